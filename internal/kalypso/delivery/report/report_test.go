package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

var gitops = destination.Destination{Repo: "https://git.example/gitops", Branch: "dev", Path: "."}

// TestKeptErrors: each error about targets that fail to render names the targets and says what to do.
func TestKeptErrors(t *testing.T) {
	t.Parallel()
	a := &delivery.Arguments{Destination: gitops, Environment: "dev", Strategy: destination.Push}
	r := delivery.NewRendered(a, &tree.Tree{Folders: []tree.Folder{{ClusterType: "large"}}})
	r.Failed = problem.Problems{{Affects: []problem.AffectedTarget{{ClusterType: "large", Name: "a"}}}}
	existing := inventory.Folders{"large": {Targets: []inventory.Target{inventory.NewTarget("a", tree.Hash{1}, false)}}}
	old := delivery.NewState(destination.Destination{Repo: gitops.Repo, Branch: "old", Path: "."}, "dev")
	old.Delivered, old.LastRead.Folders, old.LastRead.Head = existing, existing, "head"
	written := record.New("dev", []string{"large"}, "", nil, nil)
	create := delivery.NewComparison(
		delivery.NewNextTree(r, nil, nil), nil, &delivery.Branch{Folders: existing, Record: &written})
	for when, errs := range map[string][]error{
		"a move": delivery.CheckKept(delivery.NewNextTree(r, &delivery.Prior{}, &old)), "a create": {create.MayWrite()},
	} {
		if len(errs) != 1 || errs[0] == nil {
			t.Fatalf("%s: %v", when, errs)
		}
		p := report.Error(gitops, errs[0])
		if !strings.Contains(p.Detail, "large / a") || p.Severity != problem.Error || !errors.Is(p, errs[0]) ||
			p.Summary != string(delivery.CannotKeep) {
			t.Errorf("%s: %v", when, p)
		}
	}
}

// planAfterMoves returns the plan of an apply that leaves the target a on other cluster types than large.
func planAfterMoves(reaction problem.Reaction, accepts, clusterTypes []string) delivery.Plan {
	folder := func(names ...string) (f inventory.Folder) {
		for _, name := range names {
			f.Targets = append(f.Targets, inventory.NewTarget(name, tree.Hash{1}, false))
		}
		f.Hash = tree.Hash{byte(len(names))}
		return f
	}
	a := &delivery.Arguments{
		Destination: gitops, Guardrails: delivery.Guardrails{Moved: reaction}, AcceptedChanges: accepts,
		Fleet: &fleet.Fleet{},
	}
	n := &delivery.NextTree{Args: a, Rendered: delivery.NewRendered(a, &tree.Tree{})}
	for _, name := range clusterTypes {
		n.Rendered.Folders[name] = folder("a")
	}
	s := delivery.NewState(gitops, "dev")
	s.Delivered = inventory.Folders{"large": folder("a"), "small": folder()}
	d := &delivery.Write{Basis: delivery.Basis{Situation: &delivery.Situation{Args: a, State: &s}, Next: n}}
	var err error
	d.Warnings, err = delivery.CheckMoves(n, &s, &d.Accepted)
	if err != nil {
		d.Errors = []error{err}
	}
	return d
}

// TestTargetsElsewhere: a target that was placed here, and that its Workload has in other environments alone, is
// named. One that the Workload has here too, or nowhere, is not.
func TestTargetsElsewhere(t *testing.T) {
	t.Parallel()
	f := &fleet.Fleet{Environment: "dev", Workloads: []*fleet.Workload{{
		Meta: fleet.Meta{Name: "shop"},
		Targets: []fleet.Target{
			{Name: "web", Environment: "dve"}, {Name: "api", Environment: "dev"}, {Name: "api", Environment: "prod"},
			{Name: "new", Environment: "prod"}, {Name: "later", Environment: unknown.Text},
		},
	}}}
	a := &delivery.Arguments{Destination: gitops, Environment: "dev", Fleet: f}
	var all []inventory.Target
	for _, name := range []string{"shop-api", "shop-gone", "shop-later", "shop-web"} {
		all = append(all, inventory.NewTarget(name, tree.Hash{1}, false))
	}
	s := delivery.NewState(gitops, "dev")
	s.Delivered = inventory.Folders{"large": {Targets: all}, "small": {Targets: all[3:]}}
	n := &delivery.NextTree{Args: a, Rendered: delivery.NewRendered(a, &tree.Tree{})}
	write := &delivery.Write{Basis: delivery.Basis{Situation: &delivery.Situation{Args: a, State: &s}, Next: n}}
	ps := report.Plan(write)
	if len(ps) != 1 || ps[0].Severity != problem.Warning ||
		!strings.HasSuffix(ps[0].Detail, "first.\n  shop-web: on large, small, and now for environment dve") {
		t.Errorf("the plan says %v", ps)
	}
	write.Replaced = "prod" // the rendering is of another environment now, and not the targets
	for _, p := range report.Plan(write) {
		if p.Summary == ps[0].Summary {
			t.Errorf("after a change of the rendering's environment, the plan says %v", p)
		}
	}
}

// TestReportedMoves: moves have the severity that the guardrail sets. If cluster types were renamed, the text says what
// to do with clusters of the old folder.
func TestReportedMoves(t *testing.T) {
	t.Parallel()
	unknownIDs, moves := []string{unknown.Text}, []string{"small"}
	for _, tt := range []struct {
		name     string
		to       []string
		reaction problem.Reaction
		accepts  []string
		count    int
		fails    bool
	}{
		{"no moves", []string{"large"}, problem.Fail, nil, 0, false},
		{"guardrail warn", moves, problem.Warn, nil, 1, false},
		{"guardrail fail", moves, problem.Fail, nil, 1, true},
		{"guardrail fail, and the moves may be accepted", moves, problem.Fail, unknownIDs, 1, false},
		{"guardrail ignore", moves, problem.Ignore, nil, 0, false},
		{"unknown guardrail", moves, unknown.Text, nil, 0, false},
	} {
		for _, renamed := range [][]string{nil, {"big"}} {
			ps := report.Plan(planAfterMoves(tt.reaction, tt.accepts, append(renamed, tt.to...)))
			if len(ps) != tt.count || ps.HasErrors() != tt.fails {
				t.Errorf("%s: %v", tt.name, ps)
			}
			for _, p := range ps {
				for _, line := range []string{"large → big", "Point them at the new folder first"} {
					if strings.Contains(p.Detail, line) != (renamed != nil) {
						t.Errorf("%s, renamed %v: %q in\n%s", tt.name, renamed, line, p.Detail)
					}
				}
				if strings.Contains(p.Detail, `accepted_changes = ["moved-`) != tt.fails {
					t.Errorf("%s: the text about accepted_changes: %s", tt.name, p.Detail)
				}
				if !strings.Contains(p.Detail, "a: from large to "+strings.Join(append(renamed, tt.to...), ", ")) {
					t.Errorf("%s: the text does not contain the move:\n%s", tt.name, p.Detail)
				}
			}
		}
	}
}

// TestCheckedMoves: a plan warns once of moves that it knows from the state and that the branch shows too.
func TestCheckedMoves(t *testing.T) {
	t.Parallel()
	plan := planAfterMoves(problem.Warn, nil, []string{"small"})
	warnings := delivery.EffectsOf(plan).Warnings
	other := &delivery.Refusal{Kind: delivery.Emptied, Reason: "another"}
	change := &delivery.Change{
		Comparison: delivery.Comparison{Branch: &delivery.Branch{}},
		Warnings:   []*delivery.Refusal{{Kind: warnings[0].Kind, Reason: warnings[0].Reason}, other},
	}
	found := report.Checked(plan, remote.Checked{Change: change})
	if len(warnings) != 1 || len(found) != 1 || found[0].Summary != string(delivery.Emptied) {
		t.Errorf("the plan warns of %v, and the branch adds %v", warnings, found)
	}
}

// TestDestroyed: if another rendering owns the destination now, a destroy removes nothing, and warns.
func TestDestroyed(t *testing.T) {
	t.Parallel()
	if ps := report.Destroyed(remote.Destroyed{}); len(ps) > 0 {
		t.Errorf("problems of a removal: %v", ps)
	}
	ps := report.Destroyed(remote.Destroyed{OccupiedDestination: &gitops})
	if len(ps) != 1 || ps.HasErrors() || !strings.Contains(ps[0].Detail, gitops.String()) {
		t.Errorf("problems of a destination of another rendering: %v", ps)
	}
}

// TestUnusableRecord: the error of a record names its destination, so the problem does not name it once more.
func TestUnusableRecord(t *testing.T) {
	t.Parallel()
	p := report.Error(gitops, &record.Error{At: gitops, Err: errors.New("it is no JSON")})
	want := "At " + gitops.String() + ", the record " + gitops.RecordPath() + " can't be used: it is no JSON."
	if p.Detail != want {
		t.Errorf("%q, want %q", p.Detail, want)
	}
}

// TestDriftByApplies: if only applies with another state changed the folders, the problem says that two states own the
// rendering. Each reaction keeps its severity.
func TestDriftByApplies(t *testing.T) {
	t.Parallel()
	byApply := drift.Commit{Commit: "c1", Subject: "Render environment dev", Apply: true, Paths: []string{"large/a"}}
	byHand := drift.Commit{Commit: "c2", Subject: "Hotfix", Paths: []string{"large/b"}}
	unfound := drift.Commit{Subject: "not found", Paths: []string{"large/c"}}
	for _, tt := range []struct {
		name    string
		commits []drift.Commit
		others  bool
	}{
		{"one apply", []drift.Commit{byApply}, true},
		{"two applies", []drift.Commit{byApply, byApply}, true},
		{"an apply and a person", []drift.Commit{byApply, byHand}, false},
		{"a person", []drift.Commit{byHand}, false},
		{"an unknown commit", []drift.Commit{unfound}, false},
	} {
		for reaction, fails := range map[drift.Reaction]bool{drift.Fail: true, drift.Overwrite: false, unknown.Text: false} {
			s := delivery.NewState(gitops, "dev")
			s.LastRead.Head, s.Drift = "head", tt.commits
			n := &delivery.NextTree{
				Args:     &delivery.Arguments{Destination: gitops, OnDrift: reaction},
				Rendered: delivery.NewRendered(&delivery.Arguments{}, &tree.Tree{}),
			}
			ps := report.Plan(&delivery.Undecided{Basis: delivery.Basis{
				Situation: &delivery.Situation{Args: n.Args, State: &s}, Next: n, Drift: []*delivery.State{&s},
			}})
			if len(ps) != 1 || ps.HasErrors() != fails || fails != strings.Contains(ps[0].Detail, "accepted_changes = [") {
				t.Fatalf("%s, %s: %v", tt.name, reaction, ps)
			}
			if got := ps[0].Summary == "Drift: another state applied this rendering"; got != tt.others {
				t.Errorf("%s, %s: the summary is %q", tt.name, reaction, ps[0].Summary)
			}
		}
	}
}

// TestWrittenByApply: the messages of applies, with a message of the user's own too, but not the messages of reverts.
func TestWrittenByApply(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		record.Message("dev", nil):                                      true,
		"Deploy the shop\n\n" + drift.ProofTrailer + "0123\n":           true,
		"Revert \"Render environment dev\"\n\nThis reverts commit 1.\n": false,
		"Hotfix: see " + drift.ProofTrailer + "\n":                      false,
	} {
		if got := drift.WrittenByApply(message); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
}
