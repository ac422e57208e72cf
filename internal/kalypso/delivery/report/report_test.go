package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish/accepted"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

var destination = record.Destination{Repo: "https://git.example/gitops", Branch: "dev", Path: "."}

// TestKeptErrors: each error about targets that fail to render names the targets and says what to do.
func TestKeptErrors(t *testing.T) {
	t.Parallel()
	all := []record.FailedAssignment{{ClusterType: "large", DeploymentTarget: "a"}}
	for _, err := range []error{
		&check.KeptMoveError{To: destination, Kept: all},
		&check.LeftOutError{Destination: destination, Environment: "dev", Existing: all},
	} {
		p := report.Error(destination, err)
		if !strings.Contains(p.Detail, "large / a") || p.Severity != problem.Error || !errors.Is(p, err) ||
			strings.Contains(p.Summary, "can't be used") {
			t.Errorf("%T: %v", err, p)
		}
	}
}

// decisionWithMoves returns the decision of an apply that moves targets between cluster types.
func decisionWithMoves(reaction problem.Reaction, moves []check.Move, renamed []string) *delivery.Decision {
	a := &wish.Arguments{Destination: destination, Guardrails: wish.Guardrails{Moved: reaction}}
	d := &delivery.Decision{
		Applied: &next.Next{Wish: a, Rendered: next.NewRendered(a, nil)}, Action: delivery.Write,
		Moves: moves, Renamed: renamed,
	}
	if reaction == problem.Fail && len(moves) > 0 {
		err := &check.MovesError{Moves: moves, Renamed: renamed}
		d.Errors = []error{&accepted.RefusedError{ID: "moved-3f2a9c41d07b", Err: err}}
	}
	return d
}

// TestReportedMoves: moves have the severity that the guardrail sets. If cluster types were renamed, the text says what
// to do with clusters of the old folder.
func TestReportedMoves(t *testing.T) {
	t.Parallel()
	moves := []check.Move{{Target: "a", From: []string{"large"}, To: []string{"small"}}}
	for _, tt := range []struct {
		name     string
		moves    []check.Move
		reaction problem.Reaction
		count    int
		fails    bool
	}{
		{"no moves", nil, problem.Fail, 0, false},
		{"guardrail warn", moves, problem.Warn, 1, false},
		{"guardrail fail", moves, problem.Fail, 1, true},
		{"guardrail ignore", moves, problem.Ignore, 0, false},
	} {
		for _, renamed := range [][]string{nil, {"large → big"}} {
			ps := report.Decision(decisionWithMoves(tt.reaction, tt.moves, renamed))
			if len(ps) != tt.count || ps.HasErrors() != tt.fails {
				t.Errorf("%s: %v", tt.name, ps)
			}
			for _, p := range ps {
				for _, line := range []string{"large → big", "Point them at the new folder first"} {
					if strings.Contains(p.Detail, line) != (renamed != nil) {
						t.Errorf("%s, renamed %v: %q in\n%s", tt.name, renamed, line, p.Detail)
					}
				}
				if strings.Contains(p.Detail, `accepted_changes = ["moved-3f2a9c41d07b"]`) != tt.fails {
					t.Errorf("%s: the text about accepted_changes: %s", tt.name, p.Detail)
				}
				if !strings.Contains(p.Detail, "a: from large to small") {
					t.Errorf("%s: the text does not contain the move:\n%s", tt.name, p.Detail)
				}
			}
		}
	}
}

// TestDestroyed: if another rendering owns the destination now, a destroy removes nothing, and warns.
func TestDestroyed(t *testing.T) {
	t.Parallel()
	if ps := report.Destroyed(remote.Destroyed{}); len(ps) > 0 {
		t.Errorf("problems of a removal: %v", ps)
	}
	ps := report.Destroyed(remote.Destroyed{OccupiedDestination: &destination})
	if len(ps) != 1 || ps.HasErrors() || !strings.Contains(ps[0].Detail, destination.String()) {
		t.Errorf("problems of a destination of another rendering: %v", ps)
	}
}
