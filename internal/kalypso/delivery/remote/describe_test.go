package remote_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

func config(name string, labels, data map[string]string) *fleet.Config {
	all := map[string]string{fleet.PlatformConfigLabel: "true"}
	for k, v := range labels {
		all[k] = v
	}
	return &fleet.Config{Meta: fleet.Meta{Name: name, Labels: all}, Data: data}
}

// described returns a request for the usual targets. Its configs contain the value, and its origins are at the commit
// with this number.
func (b *branch) described(value string, commit int, before *delivery.State) request {
	o := b.request(value, usual, before)
	o.Fleet.Configs = []*fleet.Config{
		config("all", nil, map[string]string{"A": value, "B": "canary-stays", "only-" + value: value}),
		config("large", map[string]string{"type": "large"}, map[string]string{"A": value}),
		config("idle", map[string]string{"type": value}, map[string]string{"A": "canary-stays"}),
		config("stays", nil, map[string]string{"A": "canary-stays"}),
		{
			Meta: fleet.Meta{Name: fleet.AzureAppConfigPrefix},
			Data: map[string]string{"cluster-type.small.A": value, "type.large.A": "canary-stays"},
		},
	}
	o.Fleet.Secrets = []*fleet.Secret{
		{Meta: fleet.Meta{Name: "all"}, Data: map[string]fleet.SecretReference{
			"PASSWORD": {Store: "vault", Key: value, Property: "canary"}, "TOKEN": {Store: "vault", Key: "stays"},
		}},
		{Meta: fleet.Meta{Name: "stays"}, Data: map[string]fleet.SecretReference{"KEY": {Store: "vault", Key: "stays"}}},
		{
			Meta: fleet.Meta{Name: "only-" + value[len(value)-1:], Labels: map[string]string{"type": "large"}},
			Data: map[string]fleet.SecretReference{"OWN": {Store: "vault", Key: "own"}},
		},
	}
	for _, origin := range []string{
		"https://git.acme.io/acme/shop.git@%040d:deploy/w.yaml#shop", "https://git.acme.io/acme/shop.git@%040d:other/x.yaml",
		"git@git.acme.io:acme/base@%040d:a.yaml",
	} {
		o.Origins = append(o.Origins, fmt.Sprintf(origin, commit))
	}
	o.Fleet.Registrations = []*fleet.WorkloadRegistration{
		{Meta: fleet.Meta{Name: "shop"}, Repo: "https://git.acme.io/acme/shop", Path: "./deploy/"},
		{Meta: fleet.Meta{Name: "elsewhere"}, Repo: "https://git.acme.io/acme/shop", Path: "dep"},
		{Meta: fleet.Meta{Name: "another"}, Repo: "git@git.acme.io:acme/base.git", Path: "."},
	}
	o.Promotion.Commit = fmt.Sprintf("%040d", commit)
	o.Review.Links.Commit = func(repo, commit string) string { return repo + "/commit/" + commit }
	return o
}

// TestDescribe describes a change since the last delivery. The description does not depend on the order of the input.
func TestDescribe(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	shown := b.described("canary-1", 1, nil)
	shown.Review.Detail = delivery.DetailValues
	first := b.deliver(shown, 1)
	o := b.described("canary-2", 2, reread(t, first))
	text := describe.Rendering(t.Context(), o.applied(), o.before)
	old, now := fmt.Sprintf("%040d", 1), fmt.Sprintf("%040d", 2)
	for _, want := range []string{
		"0 added, 0 removed, 3 changed on 2 cluster types",
		"- `all` on 3 deployment targets of `large`, `small`: `A`, `only-canary-1` removed, `only-canary-2` added\n",
		"- `azure-app-config` on 3 deployment targets of `large`, `small`: `cluster-type.small.A`\n",
		"- `idle`, which applies to no deployment target: its labels\n",
		"- `large` on 2 deployment targets of `large`: `A`\n",
		"### References to secrets\n\n- `all` on 3 deployment targets of `large`, `small`: `PASSWORD`\n",
		"- `only-1` (gone): `OWN` removed\n",
		"- `only-2` (new) on 2 deployment targets of `large`: `OWN` added\n",
		"- `another` from `git@git.acme.io:acme/base`: ",
		"- `shop` from `https://git.acme.io/acme/shop.git`: [`0000000`](<https://git.acme.io/acme/shop.git/commit/" + old +
			">) → [`0000000`](<https://git.acme.io/acme/shop.git/commit/" + now + ">) (`deploy/w.yaml#shop`, `other/x.yaml`)\n",
		"**Promoted commit:** `0000000` → `0000000`\n", // not a link, since two repos have this commit
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the description does not contain %q:\n%s", want, text)
		}
	}
	if strings.Contains(strings.NewReplacer("`only-canary-1`", "", "`only-canary-2`", "").Replace(text), "canary") ||
		strings.Contains(text, "stays") {
		t.Errorf("the description contains a value, or a config that does not change:\n%s", text)
	}
	values := o.copied()
	values.Review.Detail = delivery.DetailValues
	const reference = "`PASSWORD` `store \"vault\", key \"canary-1\", property \"canary\"` → " +
		"`store \"vault\", key \"canary-2\", property \"canary\"`"
	if text := describe.Rendering(t.Context(), values.applied(), o.before); !strings.Contains(text, reference) {
		t.Errorf("the description does not contain %q:\n%s", reference, text)
	}
	moved := o.copied()
	moved.Environment, moved.Destination.Path = "stage", "clusters"
	const left = "Renders environment `stage` to branch `dev`, path `clusters`.\n" +
		"It replaces environment `dev`.\nIt moves from branch `dev`.\n"
	if text := describe.Rendering(t.Context(), moved.applied(), o.before); !strings.Contains(text, left) ||
		strings.Contains(describe.Rendering(t.Context(), o.applied(), o.before), "It ") {
		t.Errorf("description of a move to another environment:\n%s", text)
	}
	for range 10 {
		rand.Shuffle(
			len(o.Fleet.Configs),
			func(i, j int) { o.Fleet.Configs[i], o.Fleet.Configs[j] = o.Fleet.Configs[j], o.Fleet.Configs[i] },
		)
		slices.Reverse(o.Origins)
		slices.Reverse(o.Fleet.Registrations)
		if diff := cmp.Diff(text, describe.Rendering(t.Context(), o.applied(), o.before)); diff != "" {
			t.Fatalf("description of another order (-before +after):\n%s", diff)
		}
	}
	result, err := b.tryDeliver(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, describe.Rendering(t.Context(), o.applied(), result.Before)); diff != "" {
		t.Errorf("description after the delivery (-before +after):\n%s", diff)
	}
}

// TestInputsKeepNoValue: the state contains values only if descriptions show values, and then only the part that is
// shown.
func TestInputsKeepNoValue(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	o := b.described("canary-1", 1, nil)
	delete(o.Fleet.Configs[0].Data, "only-canary-1")
	unpacked := func(s *delivery.State) string {
		text, err := json.Marshal(s.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	s := delivery.ComputedState(o.applied())
	if text := unpacked(s); strings.Contains(text, "canary") || !strings.Contains(text, `"B"`) {
		t.Errorf("the stored inputs are\n%s", text)
	}
	o.Review.Detail = delivery.DetailValues
	o.Fleet.Configs[0].Data["long"] = strings.Repeat("canary-long ", 100)
	if n := strings.Count(unpacked(delivery.ComputedState(o.applied())), "canary-long"); n == 0 || n > 10 {
		t.Errorf("a long value is stored with %d of its 100 parts", n)
	}

	// If review.detail changes, an apply without a delivery stores or removes the values. It does not store values that
	// differ from the delivered values.
	delete(o.Fleet.Configs[0].Data, "long")
	s = o.WithInputs(s)
	if text := unpacked(s); !strings.Contains(text, "canary-stays") {
		t.Errorf("the stored inputs are\n%s", text)
	}
	o.Review.Detail = delivery.DetailKeys
	if text := unpacked(o.WithInputs(s)); strings.Contains(text, "canary") {
		t.Errorf("the stored inputs are\n%s", text)
	}
	o.Fleet.Configs[0].Data["B"] = "another"
	if diff := cmp.Diff(unpacked(s), unpacked(o.WithInputs(s))); diff != "" {
		t.Errorf("the delivered values were replaced by other values:\n%s", diff)
	}
}

// TestDescribeUnknownInputs describes a change when the previous inputs are not all known: after an import, with a
// state of an older version, and for an adopted folder.
func TestDescribeUnknownInputs(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	o := b.described("1", 1, nil)
	s := b.deliver(o, 1)
	const configuration = "Not compared: the configuration, whose previous version is not known here."
	const both = "Not compared: the configuration and the sources, whose previous version is not known here."
	imported, err := remote.Import(t.Context(), b.client, s.Destination, "dev")
	if err != nil {
		t.Fatal(err)
	}
	older := reread(t, s)
	older.Inputs = nil
	for name, test := range map[string]struct {
		before *delivery.State
		says   string
		moved  bool
	}{
		"empty state":                {&delivery.State{}, "", true},
		"import":                     {imported, configuration, true},
		"state of an older version":  {older, both, false},
		"import with renewed inputs": {o.WithInputs(imported), "", true},
		"state of an older version with renewed inputs": {o.WithInputs(older), "", true},
		"state of this version":                         {s, "", true},
	} {
		text := describe.Rendering(t.Context(), b.described("2", 2, nil).applied(), test.before)
		if said := strings.Contains(text, "Not compared"); said != (test.says != "") || !strings.Contains(text, test.says) {
			t.Errorf("%s: the description is\n%s", name, text)
		}
		if moved := strings.Contains(text, "### Sources"); moved != test.moved {
			t.Errorf("%s: the description has sources: %t\n%s", name, moved, text)
		}
		if told := strings.Contains(text, "### Configuration"); told != (test.says == "" && name != "empty state") {
			t.Errorf("%s: the description has configs: %t\n%s", name, told, text)
		}
	}

	// The operator's tree is adopted by a first delivery that changes one target.
	b = newBranch(t)
	o = b.request("1", usual, nil)
	b.deliver(o, 1)
	gone := b.request("1", usual, nil)
	gone.Environment, gone.Adopt = "dev", true
	result, err := b.tryDeliver(gone)
	if err != nil {
		t.Fatal(err)
	}
	if text := describe.Rendering(t.Context(), gone.applied(),
		result.Before,
	); !strings.Contains(text, "No deployment target changes.") ||
		!strings.Contains(text, configuration) {
		t.Errorf("description of an adopted folder:\n%s", text)
	}
}

// TestDescribeLimit: the description of a very large change does not exceed the limits of a plan and of the host.
func TestDescribeLimit(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	b := newBranch(t)
	targets := map[string][]string{}
	for i := range 10000 {
		clusterType := fmt.Sprint("type-", i%100)
		targets[clusterType] = append(targets[clusterType], fmt.Sprint("target-", i))
	}
	o := b.request("1", targets, nil)
	for i := range 10000 {
		o.Fleet.Configs = append(
			o.Fleet.Configs,
			config(fmt.Sprint("config-", i), nil, map[string]string{strings.Repeat("K", 200): "1"}),
		)
		o.Origins = append(o.Origins, fmt.Sprintf("https://git.acme.io/acme/repo-%d@%040d:w.yaml", i, 1))
	}
	before := delivery.ComputedState(b.request("2", map[string][]string{"type-0": nil}, nil).applied())
	for _, limit := range []int{0, 4000, 1 << 20} {
		o.Review.Max = limit
		want := delivery.DefaultMaxLength
		if limit > 0 {
			want = min(want, limit)
		}
		if text := describe.Rendering(t.Context(), o.applied(), before); len([]rune(text)) > want || len(text) < 400 ||
			!strings.Contains(text, "10000 added") {
			t.Errorf("with the limit %d, the description has %d characters:\n%.1000s", limit, len([]rune(text)), text)
		}
	}
	if text := describe.Removal(
		o.Destination,
		o.Environment,
		inventory.Of(o.Tree),
		nil,
		o.Review,
	); !strings.Contains(text, "0 added, 10000 removed, 0 changed on 100 cluster types") ||
		len([]rune(text)) > delivery.DefaultMaxLength {
		t.Errorf("the removal is described as\n%.1000s", text)
	}
}
