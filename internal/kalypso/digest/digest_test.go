package digest_test

import (
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

func of(kind string, write func(*digest.Writer)) digest.Digest {
	w := digest.New(kind)
	write(w)
	return w.Sum()
}

// TestDistinct pins that other parts, or the same bytes cut otherwise, have another digest.
func TestDistinct(t *testing.T) {
	texts := func(parts ...string) func(*digest.Writer) {
		return func(w *digest.Writer) {
			for _, p := range parts {
				w.Text(p)
			}
		}
	}
	list := func(parts ...string) func(*digest.Writer) { return func(w *digest.Writer) { w.Texts(parts) } }
	lists := func(a, b []string) func(*digest.Writer) {
		return func(w *digest.Writer) { w.Texts(a); w.Texts(b) }
	}
	mapped := func(m map[string]string) func(*digest.Writer) { return func(w *digest.Writer) { w.Map(m) } }
	all := []digest.Digest{
		of("ab", texts()), of("a", texts("b")), of("a", texts("b", "")), of("a", texts("", "b")), of("b", texts("a")),
		of("k", texts("a", "bc")), of("k", texts("ab", "c")), of("k", texts("abc")), of("k", texts("a\x02bc")),
		of("k", list()), of("k", list("")), of("k", list("a", "b")), of("k", list("b", "a")),
		of("k", lists([]string{"a"}, []string{"b"})), of("k", lists([]string{"a", "b"}, nil)), of("k", lists(nil, []string{"a", "b"})),
		of("k", mapped(map[string]string{"a": "b", "c": "d"})), of("k", mapped(map[string]string{"a": "d", "c": "b"})),
		of("k", mapped(map[string]string{"a": "b"})), of("k", mapped(map[string]string{"ab": ""})),
	}
	for i, d := range all {
		if d.IsZero() || slices.Contains(all[:i], d) {
			t.Errorf("digest %d is zero, or that of others", i)
		}
	}
	if a, b := of("k", mapped(nil)), of("k", mapped(map[string]string{})); a != b {
		t.Error("no map and an empty one differ")
	}
}

// TestUnknownIsZero pins that what is not all known has no digest, however deep it lies.
func TestUnknownIsZero(t *testing.T) {
	for name, write := range map[string]func(*digest.Writer){
		"text":   func(w *digest.Writer) { w.Text(fleet.Unknown) },
		"list":   func(w *digest.Writer) { w.Texts([]string{"a", fleet.Unknown}) },
		"key":    func(w *digest.Writer) { w.Map(map[string]string{fleet.Unknown: "v"}) },
		"value":  func(w *digest.Writer) { w.Map(map[string]string{"k": fleet.Unknown, "l": "v"}) },
		"digest": func(w *digest.Writer) { w.Digest(of("inner", func(w *digest.Writer) { w.Text(fleet.Unknown) })) },
	} {
		if d := of("k", func(w *digest.Writer) { w.Text("before"); write(w); w.Text("after") }); !d.IsZero() {
			t.Errorf("%s: %s", name, d)
		}
	}
	if d := of("k", func(w *digest.Writer) { w.Text("x" + fleet.Unknown) }); d.IsZero() {
		t.Error("a text that only holds the sentinel is known")
	}
}
