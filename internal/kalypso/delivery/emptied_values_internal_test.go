package delivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestEmptiedValues: a value that was not empty at the last delivery and is empty now is a warning, at its key.
func TestEmptiedValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was, now map[string]string
		want     []string
	}{
		"emptied":               {map[string]string{"A": "1", "B": "2"}, map[string]string{"A": "", "B": "2"}, []string{"A"}},
		"blanks":                {map[string]string{"A": "1"}, map[string]string{"A": " \n"}, []string{"A"}},
		"quotes":                {map[string]string{"A": "1"}, map[string]string{"A": "''"}, []string{"A"}},
		"two of a config":       {map[string]string{"A": "1", "B": "2"}, map[string]string{"A": "", "B": ""}, []string{"A"}},
		"empty before":          {map[string]string{"A": ""}, map[string]string{"A": ""}, nil},
		"empty before, written": {map[string]string{"A": "''"}, map[string]string{"A": ""}, nil},
		"new":                   {map[string]string{"B": "1"}, map[string]string{"A": "", "B": "1"}, nil},
		"removed":               {map[string]string{"A": "1"}, nil, nil},
		"another value":         {map[string]string{"A": "1"}, map[string]string{"A": "2"}, nil},
		"zero and false":        {map[string]string{"A": "1", "B": "true"}, map[string]string{"A": "0", "B": "false"}, nil},
		"unknown":               {map[string]string{"A": "1"}, map[string]string{"A": unknown.Text}, nil},
	} {
		keys := map[string]KeyInput{}
		for key, value := range tt.was {
			keys[key] = KeyInput{Value: fingerprint("c", key, value)}
		}
		s := &State{Inputs: &Inputs{Configs: map[string]ConfigInputs{"c": {Keys: keys}}}}
		f := &fleet.Fleet{Configs: []*fleet.Config{{Meta: fleet.Meta{Name: "c"}, Data: tt.now}}}
		var got []string
		for _, p := range EmptiedValues(f, s) {
			if p.Severity != problem.Warning {
				t.Errorf("%s: %v", name, p)
			}
			key, _ := p.Path[1].(problem.Key)
			got = append(got, string(key))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if ps := EmptiedValues(f, nil); len(ps) > 0 {
			t.Errorf("%s, without a state: %v", name, ps)
		}
	}
}
