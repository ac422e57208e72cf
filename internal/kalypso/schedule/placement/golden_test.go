package placement_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// decision is a decision by the scheduler of Open Cluster Management, v1.2.0. Its weight of Steady is larger than all
// other weights together, so that targets do not move.
type decision struct {
	Name         string `json:"name"`
	ClusterTypes []struct {
		Name       string            `json:"name"`
		Labels     map[string]string `json:"labels"`
		Taints     []placement.Taint `json:"taints"`
		Properties map[string]string `json:"properties"`
	} `json:"cluster_types"`
	MatchLabels map[string]string      `json:"match_labels"`
	Number      *int                   `json:"number"`
	Prefer      []placement.Preference `json:"prefer"`
	Tolerations []placement.Toleration `json:"tolerations"`
	Prior       []string               `json:"prior"` // the target's earlier cluster types
	Load        map[string]int         `json:"load"`  // the number of other policies' targets on each cluster type
	Decision    []string               `json:"decision"`
}

// TestGoldenDecisions compares our decisions with decisions of Open Cluster Management, which are in testdata and in
// the file that KALYPSO_GOLDEN_PLACEMENT names.
func TestGoldenDecisions(t *testing.T) {
	texts := [][]byte{unzipped(t, filepath.Join("testdata", "decisions.jsonl.gz"))}
	if more := os.Getenv("KALYPSO_GOLDEN_PLACEMENT"); more != "" {
		text, err := os.ReadFile(more)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		count := 0
		for d := json.NewDecoder(bytes.NewReader(text)); ; count++ {
			var c decision
			if err := d.Decode(&c); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Decision, c.decide(t)); diff != "" {
				t.Errorf("%s: decision (-OCM +ours):\n%s", c.Name, diff)
			}
		}
		if count < 250 {
			t.Errorf("only %d decisions", count)
		}
	}
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decide returns our decision. The targets that the cluster types already have belong to another policy.
func (c *decision) decide(t *testing.T) []string {
	t.Helper()
	f := &placement.Fleet{Targets: []string{"the-target"}}
	policy := placement.Policy{Name: "policy", Targets: []int{0}, Spec: &placement.Spec{
		Number: c.Number, Tolerations: c.Tolerations, Prefer: c.Prefer,
	}}
	for i, ct := range c.ClusterTypes {
		f.ClusterTypes = append(f.ClusterTypes, placement.ClusterType{
			Name: ct.Name, Labels: ct.Labels, Taints: ct.Taints, Properties: ct.Properties,
		})
		matches := true
		for key, value := range c.MatchLabels {
			matches = matches && ct.Labels[key] == value
		}
		if matches {
			policy.ClusterTypes = append(policy.ClusterTypes, i)
		}
	}
	f.Policies = []placement.Policy{policy}
	f.Prior.Decisions = placement.Decisions{"policy": {Targets: map[string][]string{"the-target": c.Prior}}}
	if c.Number == nil {
		f.Prior = placement.PriorResults{Placed: map[string][]string{"the-target": c.Prior}}
	}
	c.addLoad(f)
	var names []string
	placement.Decide(t.Context(), f).Each(0, func(_ int, chosen []int32) {
		names = make([]string, len(chosen))
		for i, n := range chosen {
			names[i] = f.ClusterTypes[n].Name
		}
	})
	return names
}

// addLoad adds a policy that decides after the policy of the case. It has placed the targets that the cluster types
// already have.
func (c *decision) addLoad(f *placement.Fleet) {
	others := placement.Policy{Name: "others", Spec: &placement.Spec{Number: new(1)}}
	earlier := placement.PolicyDecisions{Targets: map[string][]string{}}
	for i, ct := range f.ClusterTypes {
		others.ClusterTypes = append(others.ClusterTypes, i)
		for range c.Load[ct.Name] {
			name := "x" + string(rune('a'+len(f.Targets)/26)) + string(rune('a'+len(f.Targets)%26))
			others.Targets = append(others.Targets, len(f.Targets))
			f.Targets = append(f.Targets, name)
			earlier.Targets[name] = []string{ct.Name}
		}
	}
	f.Policies = append(f.Policies, others)
	if f.Prior.Decisions == nil {
		f.Prior.Decisions = placement.Decisions{}
	}
	f.Prior.Decisions["others"] = earlier
}
