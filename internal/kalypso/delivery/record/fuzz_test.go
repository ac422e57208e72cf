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

// FuzzImportID: what an import ID names is named by the ID that is written for it. The path leads nowhere else.
func FuzzImportID(f *testing.F) {
	for _, id := range []string{
		"dev@https://acme.io/gitops//fleet/dev?ref=dev", "dev@/tmp/a?b//x?ref=a%26b", "@x?ref=y", "dev@git@acme.io:a?ref=a+b",
		"dev@https://acme.io/a//../x?ref=dev", "dev@https://acme.io/a?ref=a&ref=b", "dev@//?ref=%", "dev@file:///a//.?ref=é",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		environment, at, err := record.ParseImportID(id)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a reason", id)
			}
			return
		}
		if environment == "" || at.Repo == "" || at.Branch == "" || !filepath.IsLocal(at.Path) {
			t.Errorf("%q is the environment %q at %+v", id, environment, at)
		}
		name, again, err := record.ParseImportID(at.ImportID(environment))
		if err != nil || name != environment || again != at {
			t.Errorf("%q is %q at %+v, and then %q at %+v: %v", id, environment, at, name, again, err)
		}
	})
}
