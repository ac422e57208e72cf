package kubernetes

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// The time of an Application's health is one that retries, comparisons and self-healing leave as it is.
func TestApplicationSince(t *testing.T) {
	const (
		base = "spec: {source: {repoURL: r, path: p}}\n"
		sync = "sync: {status: Synced, comparedTo: {source: {repoURL: r, path: p}}}"
		// deployed at 12:00, healed at 13:00, compared at 14:00
		healed = "reconciledAt: '2026-01-31T14:00:00Z', history: [{deployedAt: '2026-01-31T11:00:00Z'}, " +
			"{deployedAt: '2026-01-31T12:00:00Z'}], operationState: {phase: Succeeded, startedAt: '2026-01-31T12:59:00Z', " +
			"finishedAt: '2026-01-31T13:00:00Z'}, " + sync
		failing = "reconciledAt: '2026-01-31T14:00:00Z', health: {status: Healthy}, " + sync + ", operationState: {" +
			"startedAt: '2026-01-31T12:30:00Z', "
		changed = ", lastTransitionTime: '2026-01-31T13:30:00Z'}"
	)
	now := time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, status, rest string
		health             deployment.Health
		since              string
	}{
		{name: "healthy since it was healed", status: healed + ", health: {status: Healthy}", health: deployment.Healthy,
			since: "13:00"},
		{name: "healthy since its health changed", status: healed + ", health: {status: Healthy" + changed,
			health: deployment.Healthy, since: "13:30"},
		{name: "degraded since the present revision was deployed", status: healed + ", health: {status: Degraded" + changed,
			health: deployment.Failed, since: "12:00"},
		{name: "progressing since its health changed", status: healed + ", health: {status: Progressing" + changed,
			health: deployment.Progressing, since: "13:30"},
		{name: "an operation fails since it began", health: deployment.Failed, since: "12:30",
			status: failing + "phase: Failed, finishedAt: '2026-01-31T13:00:00Z', retryCount: 5}"},
		{name: "and while it waits for a retry", health: deployment.Failed, since: "12:30",
			status: failing + "phase: Running, finishedAt: '2026-01-31T13:00:00Z', retryCount: 4}"},
		{name: "and during a retry", health: deployment.Failed, since: "12:30",
			status: failing + "phase: Running, retryCount: 4}"},
		{name: "an operation runs since it began", health: deployment.Progressing, since: "12:30",
			status: failing + "phase: Running}"},
		{name: "an operation is asked for now", status: healed + ", health: {status: Healthy}",
			rest: "operation: {sync: {}}\n", health: deployment.Progressing, since: "15:00"},
		{name: "an error since its condition", health: deployment.Failed, since: "12:45", status: healed +
			", conditions: [{type: ComparisonError, message: m, lastTransitionTime: '2026-01-31T12:45:00Z'}]"},
	} {
		text, err := yaml.YAMLToJSON([]byte(base + test.rest + "status: {" + test.status + "}\n"))
		o := unstructured.Unstructured{}
		if err := errors.Join(err, json.Unmarshal(text, &o.Object)); err != nil {
			t.Fatal(err)
		}
		got := object{o}.applicationStatus(now)
		if at := got.since.Format("15:04"); got.health != test.health || at != test.since {
			t.Errorf("%s: %s, want %s since %s", test.name, fmt.Sprint(got.health, " since ", at), test.health, test.since)
		}
	}
}
