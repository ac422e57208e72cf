package azure

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
)

// FuzzInventoryPage: a page of Azure Resource Graph is read as encoding/json reads it, or refused. Its clusters are
// text, and have the name of their row.
func FuzzInventoryPage(f *testing.F) {
	for _, text := range []string{
		`{"totalRecords":1,"count":1,"data":[{"id":"/subscriptions/s/resourceGroups/g/providers/` +
			`Microsoft.Kubernetes/connectedClusters/c","location":"westus","tags":{"a":"b"},"version":"1.30",` +
			`"provisioningState":"Succeeded","connectivityStatus":"Connected"}],"resultTruncated":"false"}`,
		`{"data":[{"ID":"/a","tags":null,"powerState":"Stopped"}],"$skipToken":"t"}`, `{"count":2,"data":[{}]}`,
		`{"data":[null]}`, `{"data":[{"id":1}]}`, `{"data":[{"id":"a","id":"b"}]}`, "{\"data\":[{\"id\":\"\xff\"}]}",
		`[]`, `null`, `{} {}`, `{"data":[{"id":"a","tags":{"x":"\ud800"}}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		page, err := parsePage[clusterRow](text)
		if err != nil {
			if strings.Contains(err.Error(), string(text)) && len(text) > 20 {
				t.Errorf("the error repeats the answer: %v", err)
			}
			return
		}
		var usual answerPage[clusterRow]
		if err := json.Unmarshal(text, &usual); err != nil {
			t.Fatalf("%q is read, and encoding/json says %v", text, err)
		}
		if diff := cmp.Diff(usual, *page); diff != "" {
			t.Errorf("%q is read in another way (-encoding/json +ours):\n%s", text, diff)
		}
		var found clusters.List
		for _, row := range page.Data {
			if found.Add(row.ID, row.cluster()) != nil {
				return // too many
			}
		}
		if n := len(found.Clusters) + len(found.LeftOut); n != len(page.Data) {
			t.Errorf("%d rows are %d clusters", len(page.Data), n)
		}
		for _, c := range found.Clusters {
			for _, one := range append(mapTexts(c.Labels, c.Properties), c.Name, c.Reason) {
				if !utf8.ValidString(one) {
					t.Errorf("%q is no text", one)
				}
			}
		}
	})
}

func mapTexts(sets ...map[string]string) (all []string) {
	for _, set := range sets {
		for key, value := range set {
			all = append(all, key, value)
		}
	}
	return all
}
