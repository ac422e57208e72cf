package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// endless renders a file without end for some targets.
const endless = "path: {{ .Manifests.path }}\n{{ if eq .Manifests.path \"loop\" }}{{ range 9000000000000000000 }}" +
	"{{ end }}{{ end }}"

// TestFileTime checks that a template that takes too long fails the whole fleet, even if the fleet leaves out failing
// targets: a slow machine must not change what is delivered. It checks that all files of such a template together take
// no longer than one.
func TestFileTime(t *testing.T) {
	t.Parallel()
	f := teamFleet(endless, "", map[string]string{"path": "x"})
	f.Configs = nil
	f.Limits.FileTime = 500 * time.Millisecond
	for i := range 500 {
		f.Workloads[0].Targets = append(f.Workloads[0].Targets, fleet.Target{
			Name: fmt.Sprint("t", i), Environment: "dev", Manifests: map[string]string{"path": "loop"},
		})
	}
	start := time.Now()
	made, problems := engine.Run(t.Context(), f, engine.Options{LeaveOutFailed: true})
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if made.Tree != nil || len(made.LeftOut) > 0 {
		t.Errorf("there is a tree without %v", made.LeftOut)
	}
	err := problems.Err()
	if !errors.Is(err, render.ErrTooSlow) {
		t.Fatal(err)
	}
	for _, want := range []string{`Template "r"`, "takes more than 500ms for one file", "line 2", "large / app-t"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", err, want)
		}
	}
}

// TestFileTimeIsOver renders with no time at all: nothing but the first rendering of a file has a deadline.
func TestFileTimeIsOver(t *testing.T) {
	t.Parallel()
	const loop = "path: {{ range 3 }}x{{ end }}"
	f := teamFleet(loop, "", map[string]string{"path": "x"})
	f.Limits.FileTime, f.Configs = 1, nil
	if _, problems := engine.Run(t.Context(), f, engine.Options{}); !errors.Is(problems.Err(), render.ErrTooSlow) {
		t.Errorf("it renders in a nanosecond: %v", problems)
	}
	prepared := engine.Prepare(t.Context(), f, placement.PriorResults{})
	files, _ := prepared.RenderTarget("large", "app-test", &render.Buffer{})
	if len(files) != 3 || string(files[2].Content) != "path: xxx" {
		t.Errorf("again: %d files", len(files))
	}
}

// TestFileTimeByDefault waits for the deadline of a file.
func TestFileTimeByDefault(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	f := teamFleet(endless, "", map[string]string{"path": "loop"})
	start := time.Now()
	_, problems := engine.Run(t.Context(), f, engine.Options{})
	if took := time.Since(start); !errors.Is(problems.Err(), render.ErrTooSlow) || took < 9*time.Second {
		t.Errorf("%v after %s", problems.Err(), took)
	}
}
