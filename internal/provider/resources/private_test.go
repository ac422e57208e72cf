package resources_test

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// privateState is a private state in memory.
type privateState map[string][]byte

func (p privateState) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) {
	return p[key], nil
}

func (p privateState) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	p[key] = value
	return nil
}

// TestPrivate: a value is written to private state and read to the same value. A text that can't be parsed gives the
// zero value.
func TestPrivate(t *testing.T) {
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	times := status.Times{SetAt: at, SeenAt: at.Add(time.Minute)}
	private, diags := privateState{}, diag.Diagnostics{}
	resources.SetPrivate(t.Context(), private, "times", times, &diags)
	if text := string(private["times"]); text != `{"set_at":"2025-03-01T12:00:00Z","seen_at":"2025-03-01T12:01:00Z"}` {
		t.Errorf("stored: %s", text)
	}
	if got := resources.GetPrivate[status.Times](t.Context(), private, "times", &diags); got != times {
		t.Errorf("read back: %v", got)
	}
	for _, text := range []string{"", "{", `{"set_at":"2025-03-01T12:00:00Z","seen_at":"soon"}`} {
		private["times"] = []byte(text)
		if got := resources.GetPrivate[status.Times](t.Context(), private, "times", &diags); got != (status.Times{}) {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if len(diags) > 0 {
		t.Errorf("there are diagnostics: %v", diags)
	}
}
