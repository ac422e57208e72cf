package rendering_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// rolling is a rendering that reaches its cluster types in waves: first "canary", then half of the rest at a time.
type rolling struct{ *rendering }

var (
	rollingTypes  = []string{"canary", "east", "north", "south", "west"}
	canaryThenAll = []any{
		map[string]any{"name": "canary",
			"cluster_type_selector": map[string]any{"match_labels": map[string]any{"type": "canary"}}},
		map[string]any{
			"name":                  "rest",
			"cluster_type_selector": map[string]any{"match_all": true},
			"max_concurrency":       "50%",
		},
	}
)

const (
	promotedBefore = "1111111111111111111111111111111111111111"
	promotedAfter  = "2222222222222222222222222222222222222222"
)

// newRolling delivers a rendering with the value 1 to the branch "dev", for all cluster types, and configures its
// rollout.
func newRolling(t *testing.T) *rolling {
	t.Helper()
	repo := gitserver.InitBare(t)
	return newRollingAt(t, repo, "file://"+repo)
}

func newRollingAt(t *testing.T, repo, url string) *rolling {
	t.Helper()
	r := &rolling{newRendering(t, repo)}
	r.setDestination("repo", url)
	r.fleet()
	r.options("create_branch", true, "promoted_commit", promotedBefore)
	r.Apply()
	r.stages(canaryThenAll...)
	r.report("current", rollingTypes...)
	return r
}

// fleet configures a fleet with one deployment target on each cluster type.
func (r *rolling) fleet() {
	r.T.Helper()
	targets := map[string]string{}
	for _, name := range rollingTypes {
		targets[name] = name
	}
	r.Set("types", rollingTypes)
	r.Set("targets", targets)
}

func (r *rolling) stages(stages ...any) {
	r.T.Helper()
	r.Set("rollout", map[string]any{"stages": stages})
}

// report sets a report for one cluster of each type, which runs the head of the branch, in the given state.
func (r *rolling) report(state string, types ...string) {
	r.T.Helper()
	reports := []map[string]string{}
	old, _ := r.Vars["reports"].([]map[string]string)
	for _, was := range old {
		if !slices.Contains(types, was["folder"]) {
			reports = append(reports, was)
		}
	}
	for _, name := range types {
		reports = append(reports, map[string]string{
			"cluster": "of-" + name, "folder": name, "revision": "dev@sha1:" + r.head(), "state": state,
			"message": state + " since the test",
			"time":    time.Now().UTC().Format(time.RFC3339),
		})
	}
	r.Set("reports", reports)
}

// values returns the values that the branch contains for the cluster types, in their order, such as "2 1 1 - 1".
func (r *rolling) values() string {
	r.T.Helper()
	files := gitserver.Tree(r.T, r.repo, "dev")
	var all []string
	for _, name := range rollingTypes {
		value := "-"
		for path, content := range files {
			if strings.HasPrefix(path, name+"/app-") && strings.HasSuffix(path, "/reconciler.yaml") {
				value = strings.Fields(content)[2] // of "# value: 1 in dev-east"
			}
		}
		all = append(all, value)
	}
	return strings.Join(all, " ")
}

// expectValues fails the test unless the branch contains these values.
func (r *rolling) expectValues(want string) {
	r.T.Helper()
	if got := r.values(); got != want {
		r.T.Fatalf("%s contain %s, want %s", strings.Join(rollingTypes, " "), got, want)
	}
}

// wave applies the module, and expects one commit and these values on the branch.
func (r *rolling) wave(want string) acc.Output {
	r.T.Helper()
	out := r.expectCommits(1)
	r.expectValues(want)
	return out
}

// rollingRecord is the rendering's record on the branch.
type rollingRecord struct {
	PromotedCommit string `json:"promoted_commit"`
	Rollout        *struct {
		TargetTreeHash string `json:"target_tree_hash"`
		PromotedCommit string `json:"promoted_commit"`
		Stage          string
		Complete       bool
		From           map[string]string
		RolledBack     string `json:"rolled_back"`
	}
}

func (r *rolling) record() (record rollingRecord) {
	r.T.Helper()
	if err := json.Unmarshal([]byte(gitserver.Tree(r.T, r.repo, "dev")[acc.RecordPath]), &record); err != nil {
		r.T.Fatal(err)
	}
	return record
}

// expectWarning fails the test unless the plan is empty and prints all of the texts.
func (r *rolling) expectWarning(texts ...string) {
	r.T.Helper()
	out := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if out.Code != 0 {
		r.T.Errorf("the plan is not empty:\n%s\n%s", out.Stdout, out.Stderr)
	}
	for _, text := range texts {
		if !strings.Contains(out.Text(), text) {
			r.T.Errorf("the plan does not say %q:\n%s", text, out.Stdout)
		}
	}
}

// A change reaches the canary first, then half of the remaining cluster types at a time. While a rollout waits, the
// plan is empty. The promoted commit changes with the last wave.
func TestAccRollout(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.expectCommits(0) // with a rollout, and nothing to deliver
	if now := r.Rendered(); now["target_tree_hash"] != now["tree_hash"] || now["rollout_status"] != nil ||
		now["delivered"] != true {
		t.Errorf("before the rollout: %v, %v, %v", now["target_tree_hash"], now["rollout_status"], now["delivered"])
	}
	before := r.Rendered()

	r.Set("value", "2")
	r.options("promoted_commit", promotedAfter)
	r.wave("2 1 1 1 1")
	now := r.Rendered()
	if now["rollout_status"] != "stage canary, wave 1" || now["delivered"] != false ||
		now["target_tree_hash"] == now["tree_hash"] {
		t.Errorf("after the canary: %v, %v", now["rollout_status"], now["delivered"])
	}
	record := r.record()
	if record.PromotedCommit != promotedBefore || record.Rollout == nil || record.Rollout.Complete ||
		record.Rollout.Stage != "canary" ||
		record.Rollout.TargetTreeHash != now["target_tree_hash"] || record.Rollout.PromotedCommit != promotedAfter ||
		len(record.Rollout.From) != 1 || record.Rollout.From["canary"] != folderHash(before, "canary") {
		t.Errorf("the record after the canary: %+v %+v", record, record.Rollout)
	}
	if got := gitserver.Tree(t, r.repo, "dev")[".github/tracking/Promoted_Commit_Id"]; got != promotedBefore {
		t.Errorf("the canary promotes %s", got)
	}
	r.expectWarning("The rollout waits", `Stage "canary" waits for`, "canary: 0 of 1 cluster current", "rollout.skip = ")

	r.report("current", "canary")
	r.wave("2 2 2 1 1")
	r.report("current", "east")
	r.wave("2 2 2 2 1")
	r.report("progressing", "north", "south")
	r.expectWarning(`Stage "rest" waits for`, "north: ", "south: ")
	r.report("current", rollingTypes...)
	out := r.wave("2 2 2 2 2")
	if now := r.Rendered(); now["rollout_status"] != "stage rest, wave 3" || now["delivered"] != true ||
		now["target_tree_hash"] != now["tree_hash"] {
		t.Errorf("after the last wave: %v, %v\n%s", now["rollout_status"], now["delivered"], out.Stdout)
	}
	record = r.record()
	if record.PromotedCommit != promotedAfter || !record.Rollout.Complete || len(record.Rollout.From) > 0 {
		t.Errorf("the record after the last wave: %+v %+v", record, record.Rollout)
	}
	if got := gitserver.Tree(t, r.repo, "dev")[".github/tracking/Promoted_Commit_Id"]; got != promotedAfter {
		t.Errorf("the last wave does not promote: %s", got)
	}

	// If only the promoted commit changes, the apply commits it at once.
	r.options("promoted_commit", promotedBefore)
	r.expectCommits(1)
	if record := r.record(); record.PromotedCommit != promotedBefore {
		t.Errorf("the record: %+v", record)
	}
}

// folderHash returns the hash of a cluster type's folder in a state.
func folderHash(state map[string]any, name string) string {
	folders, _ := state["folders"].(map[string]any)
	folder, _ := folders[name].(map[string]any)
	return fmt.Sprint(folder["tree_hash"])
}
