package azure

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
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

// FuzzConfigurations: a page of Flux configurations is read as encoding/json reads it, or refused. The reports of a
// configuration are the same the second time, and each has a health that exists and a folder below the rendering.
func FuzzConfigurations(f *testing.F) {
	const id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Kubernetes/connectedClusters/c" +
		"/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/fleet"
	row := func(kustomizations, statuses string) string {
		return `{"id":"` + id + `","properties":{"gitRepository":{"url":"https://x.io/a/b",` +
			`"repositoryRef":{"branch":"dev"}},"kustomizations":{` + kustomizations + `},"statuses":[` + statuses +
			`],"sourceSyncedCommitId":"dev@sha1:0",` +
			`"statusUpdatedAt":"2026-01-01T00:00:00Z","complianceState":"Non-Compliant","errorMessage":"\u001b[2J"}}`
	}
	const own = `{"name":"fleet-k","kind":"Kustomization","complianceState":"Compliant","statusConditions":[{` +
		`"type":"Ready","message":"Applied revision: dev@sha1:1","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`
	const below = `{"name":"n","kind":"Kustomization","appliedBy":{"name":"m"}},{"name":"m","kind":"kustomization",` +
		`"appliedBy":{"name":"n"}},{"name":"r","kind":"HelmRelease","appliedBy":{"name":"FLEET-K"},"statusConditions":[` +
		`{"type":"Ready","message":"Helm upgrade succeeded for release a/b.v2 with chart c@1.2.3"}]}`
	for _, text := range []string{
		row(`"k":{"path":"./large"}`, own), row(`"k":{"path":"large"},"l":{"path":"/../small/"}`, own+","+below),
		row(`"":{"path":""}`, "null"), row("", own), row(`"k":null`, below),
		row(`"k":{"path":"x"},"K":{"path":"large"}`, own),
	} {
		f.Add([]byte(`{"data":[` + text + `]}`))
	}
	f.Add([]byte(`{"data":[{"id":"","properties":null},{"properties":{"suspend":true}}]}`))
	of := deployment.Rendering{
		Repo: "https://x.io/a/b", Branch: "dev", Path: ".", Folders: []string{"large", "small"}, Versions: true,
	}
	healths := append(slices.Clone(deployment.ReportStates), deployment.Offline)
	f.Fuzz(func(t *testing.T, text []byte) {
		page, err := parsePage[configuration](text)
		if err != nil {
			if strings.Contains(err.Error(), string(text)) && len(text) > 20 {
				t.Errorf("the error repeats the answer: %v", err)
			}
			return
		}
		var usual answerPage[configuration]
		if err := json.Unmarshal(text, &usual); err != nil {
			t.Fatalf("%q is read, and encoding/json says %v", text, err)
		}
		if diff := cmp.Diff(usual, *page); diff != "" {
			t.Errorf("%q is read in another way (-encoding/json +ours):\n%s", text, diff)
		}
		for i, c := range page.Data {
			found, again := deployment.Collector{Max: 1 << 20}, deployment.Collector{Max: 1 << 20}
			if err := c.report(of, &found); err != nil && !errors.Is(err, deployment.ErrTooManyReports) {
				t.Error(err)
			}
			_ = usual.Data[i].report(of, &again)
			if diff := cmp.Diff(found.Reports, again.Reports); diff != "" {
				t.Errorf("the second time:\n%s", diff)
			}
			for _, r := range found.Reports {
				if !slices.Contains(healths, r.Health) || r.Folder == "" || strings.HasPrefix(r.Folder, "/") ||
					strings.HasPrefix(r.Folder, "..") || !utf8.ValidString(r.Cluster+r.Object+r.Revision+r.Message) {
					t.Errorf("the report is %+v", r)
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
