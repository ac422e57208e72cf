package record_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
)

// FuzzParse: a record that is read and written again is the same record. Its folders lead nowhere else.
func FuzzParse(f *testing.F) {
	f.Add(record.New("dev", []string{"large", "small"}, "abc", nil, nil).Marshal())
	f.Add([]byte(`{"version":1,"environment":"dev","cluster_types":[".."]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"environment":"dev","cluster_types":null,"sources":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := record.Parse(text)
		if err != nil {
			return
		}
		again, err := record.Parse(r.Marshal())
		if err != nil || !r.Same(again) || cmp.Diff(r.Marshal(), again.Marshal()) != "" {
			t.Errorf("%s is written again as %s: %v", r.Marshal(), again.Marshal(), err)
		}
		for _, name := range r.ClusterTypes {
			if filepath.Base(name) != name || !filepath.IsLocal(name) {
				t.Errorf("the folder %q is accepted", name)
			}
		}
	})
}
