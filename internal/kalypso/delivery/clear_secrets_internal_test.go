package delivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

func configWith(name string, data map[string]string) *fleet.Config {
	return &fleet.Config{
		Meta: fleet.Meta{Name: name, Origin: problem.Origin{Attribute: "configs", Key: name}},
		Data: data,
	}
}

// TestClearSecrets: secrets that are new or changed since the last delivery or proposal are reported without their
// values. One problem for each config lists all its keys.
func TestClearSecrets(t *testing.T) {
	t.Parallel()
	token, url := "gh"+"p_"+strings.Repeat("aB3", 12), "https://me:"+"hunter2@acme.io"
	configs := []*fleet.Config{
		configWith("b", map[string]string{"TOKEN": token, "OTHER": "text"}),
		configWith("a", map[string]string{"Z": token, "A": url}),
	}
	stateOf := func(configs ...*fleet.Config) *State {
		return &State{Inputs: (&Arguments{Fleet: &fleet.Fleet{Configs: configs}}).Inputs()}
	}
	for name, tt := range map[string]struct {
		before *State
		want   []string
	}{
		"no earlier delivery":            {nil, []string{"a A Z", "b TOKEN"}},
		"unknown inputs of the delivery": {&State{}, []string{"a A Z", "b TOKEN"}},
		"same value in the delivery":     {stateOf(configs...), nil},
		"config that was not delivered":  {stateOf(configs[1]), []string{"b TOKEN"}},
		"other value in the delivery": {stateOf(configs[0], configWith("a", map[string]string{"Z": token, "A": "x"})),
			[]string{"a A"}},
		"same value in another config of the delivery": {stateOf(configs[0], configWith("c", configs[1].Data)),
			[]string{"a A Z"}},
		"same value in the proposal": {
			&State{Proposal: &Proposal{Head: stateOf(configs...)}}, nil,
		},
		"same values in the delivery and the proposal": {
			&State{Inputs: stateOf(configs[0]).Inputs, Proposal: &Proposal{Head: stateOf(configs[1])}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range FindClearSecrets(configs).Problems(tt.before) {
				named := p.Name
				for _, key := range []string{"A", "OTHER", "TOKEN", "Z"} {
					if strings.Contains(p.Detail, "\n  "+key+": ") || len(p.Path) > 1 && p.Path[1] == problem.Key(key) {
						named += " " + key
					}
				}
				got = append(got, named)
				if text := p.Error(); strings.Contains(text, token) || strings.Contains(text, "hunter2") ||
					p.Severity != problem.Error {
					t.Errorf("severity %d: %s", p.Severity, text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestClearSecretsOfConfig: the problem of a config lists each secret in each of its values.
func TestClearSecretsOfConfig(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	const key = "-----BEGIN PRIVATE" + " KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE" + " KEY-----\n"
	found := FindClearSecrets([]*fleet.Config{configWith("a", map[string]string{
		"KEY": key, "OTHER": "text", "app.yaml": "user: me\ntoken: " + token + "\nurl: https://me:" + "hunter2@acme.io\n",
	})}).Problems(nil)
	if len(found) != 1 || len(found[0].Path) != 1 {
		t.Fatalf("got %v", found)
	}
	const want = `
  KEY: a private key
  app.yaml, line 2: a GitHub token
  app.yaml, line 3: a password in a URL
`
	if !strings.Contains(found[0].Detail, want) {
		t.Error(found[0].Detail)
	}
}

// TestClearSecretsHidden: no other problem and no description with values contains a secret, plain or quoted.
func TestClearSecretsHidden(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN PRIVATE" + " KEY-----\nMIIEvQ\"IBADANB\n-----END PRIVATE" + " KEY-----\n"
	configs := []*fleet.Config{configWith("a", map[string]string{"KEY": key, "OTHER": "text"})}
	problems := problem.Problems{
		{Detail: "it is " + key}, {Detail: `it is "-----BEGIN PRIVATE` + ` KEY-----\nMIIEvQ\"IBADANB\n-----END PRIVATE` +
			` KEY-----\n"`},
		{Detail: "line 2: MIIEvQ\"IBADANB is text"},
	}
	FindClearSecrets(configs).Hide(problems)
	for _, p := range problems {
		if strings.Contains(p.Detail, "MIIEvQ") || !strings.Contains(p.Detail, HiddenText) {
			t.Error(p.Detail)
		}
	}
	if problems[2].Detail != "line 2: "+HiddenText+" is text" {
		t.Error(problems[2].Detail)
	}
	in := (&Arguments{Fleet: &fleet.Fleet{Configs: configs}, Review: Review{Detail: DetailValues}}).Inputs()
	if got := *in.Configs["a"].Keys["KEY"].Shown + *in.Configs["a"].Keys["OTHER"].Shown; got != HiddenText+"text" {
		t.Errorf("descriptions show %q", got)
	}
}

// TestGoldenFleetsContainNoSecret: no value of the golden fleets is taken for a secret.
func TestGoldenFleetsContainNoSecret(t *testing.T) {
	t.Parallel()
	values := 0
	for _, g := range golden.All(t) {
		f, err := g.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Configs {
			values += len(c.Data)
		}
		for _, c := range FindClearSecrets(f.Configs) {
			t.Errorf("%s: the value of %s in %s is taken for %s", g.Name, c.key, c.config.Name, c.is)
		}
	}
	if values < 100 {
		t.Errorf("only %d values", values)
	}
}
