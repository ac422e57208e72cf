package delivery_test

import (
	"crypto/sha1" // as Git does
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
)

// footprint is one of "cluster type/deployment target=hash", a hash of "-" saying that all of its files are empty.
func footprint(entries ...string) delivery.Footprint {
	f := delivery.Footprint{}
	slices.SortFunc(entries, func(a, b string) int {
		one, _, _ := strings.Cut(a, "=")
		two, _, _ := strings.Cut(b, "=")
		return strings.Compare(one, two)
	})
	for _, entry := range entries {
		at, hash, _ := strings.Cut(entry, "=")
		name, target, ok := strings.Cut(at, "/")
		folder := f[name]
		folder.ClusterType = name
		if ok {
			folder.Targets.Add(target, sha1.Sum([]byte(hash)), hash == "-")
		}
		folder.Hash = sha1.Sum([]byte(folder.Hash.String() + entry))
		f[name] = folder
	}
	return f
}

// A state is the same once it was in private state, also where the branch holds something else than was delivered.
func TestStateJSON(t *testing.T) {
	one, two := footprint("large/a=1", "large/b=1", "small/c=2"), footprint("large/a=1", "small/c=2", "theirs/d=1")
	rendered := footprint("large/a=1", "large/c=-", "small/a=2", "small/b=3")
	small := rendered["small"]
	small.Digest = digest.Digest{1, 2}
	rendered["small"] = small
	for name, want := range map[string]delivery.State{
		"as delivered": {Head: "1", Delivered: one, Seen: one},
		"drifted":      {Head: "1", Delivered: one, Seen: two},
		"all gone":     {Head: "1", Delivered: one, Seen: delivery.Footprint{}},
		"empty":        {Head: "1", Delivered: delivery.Footprint{}, Seen: delivery.Footprint{}},
		"computed":     {Seen: one},
		"of nothing":   {Seen: delivery.Footprint{}},
		"zero":         {},
		"nested":       {Head: "1", Delivered: one, Seen: one, Proposal: &delivery.Proposal{Number: 7, Head: &delivery.State{Delivered: two, Seen: one}}},
		"odd names": {Delivered: footprint("large/my folder=1", "large/my folder empty=2", "large/a\nb=3", `large/"=4`, "large/ =5", "large/ä=6"),
			Seen: footprint("large/b=1", "a b/a\x00=-")},
		"rendered": {Delivered: rendered, Seen: footprint("large/a=1", "small/c=3"), Inputs: []byte{1, 2}},
	} {
		for _, s := range []any{want, &want} {
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var got delivery.State
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || (got.Seen == nil) != (want.Seen == nil) || (got.Delivered == nil) != (want.Delivered == nil) {
				t.Errorf("%s, after the round trip (-want +got):\n%s", name, diff)
			}
		}
	}
}

// The hashes of the targets of a large fleet are cut short, and show what changes all the same.
func TestStateOfMany(t *testing.T) {
	entries := make([]string, 20_000)
	for i := range entries {
		entries[i] = fmt.Sprintf("ct-%03d/t-%03d=%d", i/100, i%100, i)
	}
	edited := slices.Clone(entries)
	edited[0], edited[101] = "ct-000/t-000=other", "ct-001/new=1"
	for _, test := range []struct {
		targets, most int // bytes a target in private state
		whole         bool
	}{{16_300, 28, true}, {20_000, 8, false}} {
		of := footprint(entries[:test.targets]...)
		state := &delivery.State{Delivered: of, Seen: of}
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		if most := test.most * test.targets; len(text) > most {
			t.Errorf("the state of %d targets has %d bytes", test.targets, len(text))
		}
		next := kept(t, state)
		if diff := cmp.Diff(of, next.Delivered); diff != "" {
			t.Error(diff)
		}
		if whole := next.Seen["ct-001"].Targets.Whole(); whole != test.whole {
			t.Errorf("of %d targets, hashes are whole: %t", test.targets, whole)
		}
		want := map[string]string{"ct-000": "+0 -0 ~1", "ct-001": "+1 -1 ~0"}
		if diff := cmp.Diff(want, delivery.Changes(next.Seen, footprint(edited[:test.targets]...))); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
}

// TestStateBroken reads what is no state, or only a part of one.
func TestStateBroken(t *testing.T) {
	one := footprint("large/a=1", "large/b=-", "small/c=2")
	text, err := json.Marshal(delivery.State{Head: "1", Delivered: one, Seen: footprint("large/a=1", "large/b=-", "new/d=1")})
	if err != nil {
		t.Fatal(err)
	}
	var whole []byte
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	read := func(packed []byte) error {
		text, err := json.Marshal(packed)
		if err != nil {
			t.Fatal(err)
		}
		return json.Unmarshal(text, &delivery.State{})
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if read(whole[:i]) == nil {
			t.Errorf("the first %d of %d bytes are taken for a state", i, len(whole))
		}
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			broken := slices.Clone(whole)
			broken[i] = b
			_ = read(broken) // is refused, or another state
		}
		// The largest number that is read: where int has 32 bits, what is reckoned with it must not pass its end.
		_ = read(slices.Concat(whole[:i], binary.AppendUvarint(nil, math.MaxInt32), whole[i+1:]))
	}
	if read(append(whole, 0)) == nil {
		t.Error("a state with something after it is taken for one")
	}
	for _, text := range []string{`{"version": 2}`, `1`, `""`, `"-"`, `"H4sIAAAA"`} {
		if json.Unmarshal([]byte(text), &delivery.State{}) == nil {
			t.Errorf("%s is taken for a state", text)
		}
	}
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after delivery.Footprint
		want          map[string]string
	}{
		{"nothing", footprint("large/a=1"), footprint("large/a=1"), map[string]string{}},
		{"first", nil, footprint("large/a=1", "large/b=1", "small"), map[string]string{"large": "+2 -0 ~0", "small": "+0 -0 ~0"}},
		{"all", footprint("large/a=1", "large/b=1", "large/c=1"), footprint("large/a=1", "large/b=2", "large/d=1"), map[string]string{"large": "+1 -1 ~1"}},
		{"a cluster type goes", footprint("large/a=1", "small/b=1"), footprint("large/a=1"), map[string]string{"small": "+0 -1 ~0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, delivery.Changes(test.before, test.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuardrails(t *testing.T) {
	four := footprint("large/a=1", "large/b=1", "small/c=1", "small/d=1")
	empty := delivery.Guardrails{MaxRemoved: delivery.Limit{Number: 100, Percentage: true}, AllowEmpty: true}
	number := func(n int) delivery.Guardrails { return delivery.Guardrails{MaxRemoved: delivery.Limit{Number: n}} }
	usual := delivery.Guardrails{MaxRemoved: delivery.DefaultLimit}
	for _, test := range []struct {
		name          string
		guardrails    delivery.Guardrails
		before, after delivery.Footprint
		replaced      bool
		removed       []string // nil: allowed
		reason        string
	}{
		{"nothing there", usual, nil, four, false, nil, ""},
		{"changed", usual, four, footprint("large/a=2", "large/b=2", "small/c=2", "small/d=2"), false, nil, ""},
		{"half", usual, four, footprint("large/a=1", "small/c=1"), false, nil, ""},
		{"more than half", usual, four, footprint("large/a=1"), false, []string{"large/b", "small/c", "small/d"}, `takes away 3 of 4 deployment target folders, and guardrails.max_removed is "50%"`},
		{"moved to another cluster type", usual, four, footprint("small/a=1", "small/b=1", "small/c=1", "large/d=1"), false, []string{"large/a", "large/b", "small/d"}, "3 of 4"},
		{"number", number(1), four, footprint("large/a=1", "small/c=1"), false, []string{"large/b", "small/d"}, `is "1"`},
		{"number allows", number(2), four, footprint("large/a=1", "small/c=1"), false, nil, ""},
		{"zero", number(0), four, footprint("large/a=1", "large/b=1", "small/c=1"), false, []string{"small/d"}, `1 of 4`},
		{"all", number(100), four, footprint("large", "small"), false, []string{"large/a", "large/b", "small/c", "small/d"}, "all 4 deployment target folders. If that is meant, set guardrails.allow_empty = true. What"},
		{"all, and more than half", usual, four, nil, false, []string{"large/a", "large/b", "small/c", "small/d"}, `set guardrails.allow_empty = true and guardrails.max_removed = "100%". What`},
		{"all allowed", empty, four, nil, false, nil, ""},
		{"emptied", number(0), four, footprint("large/a=-", "large/b=1", "small/c=1", "small/d=1"), false, []string{"large/a"}, "1 of 4"},
		{"empty before", number(0), footprint("large/a=-", "large/b=1"), footprint("large/a=-", "large/b=1"), false, nil, ""},
		{"another environment", usual, four, four, true, []string{"large/a", "large/b", "small/c", "small/d"}, "all 4"},
		{"another environment allowed", empty, four, four, true, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.guardrails.Check(test.before, test.after, test.replaced)
			if test.removed == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var refused *delivery.GuardrailError
			if !errors.As(err, &refused) {
				t.Fatalf("allowed: %v", err)
			}
			if diff := cmp.Diff(test.removed, refused.Removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			for _, text := range append(test.removed, test.reason) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not say %q: %v", text, err)
				}
			}
		})
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]delivery.Limit{"0": {}, "12": {Number: 12}, "0%": {Percentage: true}, "100%": {Number: 100, Percentage: true}} {
		got, err := delivery.ParseLimit(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "-1", "101%", "1.5", "half", "50 %", "-1%"} {
		if got, err := delivery.ParseLimit(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestRecord(t *testing.T) {
	record := delivery.NewRecord("dev", []string{"small", "large"}, "", []string{"b@1:x", "a@1:x&<>"})
	text, err := record.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "environment": "dev",
  "cluster_types": [
    "large",
    "small"
  ],
  "origins": [
    "a@1:x&<>",
    "b@1:x"
  ]
}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	got, err := delivery.ParseRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(record, got); diff != "" {
		t.Errorf("after the round trip (-want +got):\n%s", diff)
	}
	for text, said := range map[string]string{
		``:                                  "not as it was written",
		`[]`:                                "not as it was written",
		`{}`:                                "lacks its version or environment",
		`{"version":2,"environment":"dev"}`: "use a newer provider",
		`{"version":1}`:                     "lacks its version or environment",
		`{"version":1,"environment":"dev","cluster_types":["../x"]}`: `"../x"`,
		`{"version":1,"environment":"dev","cluster_types":[".git"]}`: `".git"`,
	} {
		if _, err := delivery.ParseRecord([]byte(text)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: the error is %v, want %q", text, err, said)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for path, want := range map[string]string{
		"": ".", ".": ".", "./": ".", "a": "a", "./a/": "a", "a//b": "a/b", "a/./b/": "a/b", "a/../b": "b", ".github/x": ".github/x", "a b": "a b",
	} {
		if got, err := delivery.CleanPath(path); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"/", "/a", "..", "../a", "a/../../b", `a\b`, ".git", "a/.GIT/b", "git~1", "a/GIT~1", ".git ", ".g\u200cit", ".kalypso", "a/.kalypso", "a\x00b"} {
		if got, err := delivery.CleanPath(path); err == nil {
			t.Errorf("%q is %q", path, got)
		}
	}
}

func TestPlaces(t *testing.T) {
	at := func(path string) delivery.Place {
		return delivery.Place{Repo: "https://acme.io/gitops", Branch: "dev", Path: path}
	}
	for _, test := range []struct {
		a, b   string
		nested bool
	}{
		{"a", "a", true}, {".", "a", true}, {".", ".", true}, {"a", "a/b", true}, {"a/b/c", "a", true},
		{"a", "b", false}, {"a", "ab", false}, {"a/b", "a/c", false}, {"a/b", "b", false},
	} {
		if got := at(test.a).Nested(at(test.b)); got != test.nested {
			t.Errorf("%q and %q: nested is %t", test.a, test.b, got)
		}
		if got := at(test.b).Nested(at(test.a)); got != test.nested {
			t.Errorf("%q and %q: nested is %t", test.b, test.a, got)
		}
	}
	for repo, same := range map[string]bool{
		"https://acme.io/gitops": true, "https://ACME.io:443/gitops.git/": true, "https://acme.io/gitops2": false, "https://acme.io:8443/gitops": false, "not a URL": false,
	} {
		other := delivery.Place{Repo: repo, Branch: "dev", Path: "a"}
		if got := at("a").Same(other); got != same {
			t.Errorf("%s is the same place: %t", repo, got)
		}
		if other.Branch = "main"; at("a").Same(other) {
			t.Errorf("another branch of %s is the same place", repo)
		}
	}
}
