package engine_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// The limits of each hostile case. Results of 64 MiB when written out can take many times that as lists, which the
// garbage collector frees when it likes.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = 1 << 30
	// hostileEnv is the environment variable with the case that this process runs.
	hostileEnv = "KALYPSO_HOSTILE_CASE"
)

// secret is a value of the platform that must not occur in a result or an error.
const secret = "of-the-platform"

// hostileCase is an input that would take too much time or memory without a limit.
type hostileCase struct {
	name string
	run  runFunc
	// want must be in the error, or in the text if renders is set. If want is empty and renders is not set, any error is
	// right.
	want    string
	renders bool
	object  string // the object that the error must name
}

// ownProcess lists the cases that run in a process of their own. Without its limit, each would end the process, since
// Go can't recover from a stack overflow.
var ownProcess = []string{
	"a template that calls itself", "nested brackets", "deep lists", "deep maps", "a deeper schema", "deep lists in YAML",
	"deep maps in YAML", "deep blocks in YAML",
}

// runFunc runs a case with limits, and returns a text.
type runFunc func(ctx context.Context, limits fleet.Limits) (string, error)

// hostileResult is the result of a case.
type hostileResult struct {
	Text, Error string
	Took        time.Duration
	Memory      int64 // the memory that the case added to the process, in bytes
}

func hostileCases() []hostileCase {
	var all []hostileCase
	all = append(all, hostileTemplates()...)
	all = append(all, hostileFunctions()...)
	all = append(all, hostileValues()...)
	all = append(all, hostileTeamTexts()...)
	all = append(all, hostileSchemas()...)
	all = append(all, hostileRequirements()...)
	return append(all, hostileYAML()...)
}

// TestHostile runs each case. It must end within the limits of time and memory, with an error that names the object and
// the limit, or with the right text. It measures the time of the process: so no other test of this process runs at the
// same time, and it has one processor.
func TestHostile(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// The provider's garbage collector runs at Go's default. Tests run with a higher GOGC, which keeps more garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	cases := hostileCases()
	if n, err := strconv.Atoi(os.Getenv(hostileEnv)); err == nil {
		_ = json.NewEncoder(os.Stdout).Encode(cases[n].measure())
		return
	}
	alone := 0
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if n%8 != 0 {
				slow.Skip(t)
			}
			var result hostileResult
			if slices.Contains(ownProcess, c.name) {
				alone++
				result = hostileProcess(t, n)
			} else {
				took := processor.Least(hostileTime, func() { result = c.measure() })
				result.Took = took
			}
			if result.Took > hostileTime {
				t.Errorf("the run took %s", result.Took)
			}
			if result.Memory > hostileMemory {
				t.Errorf("it used %d MiB", result.Memory>>20)
			}
			if strings.Contains(result.Text+result.Error, secret) {
				t.Error("the result contains a value of the platform")
			}
			switch {
			case c.renders && result.Error != "":
				t.Errorf("error %.1000s, want %q", result.Error, c.want)
			case c.renders && !strings.Contains(result.Text, c.want):
				t.Errorf("%.1000q, want %q", result.Text, c.want)
			case !c.renders && result.Error == "":
				t.Errorf("no error, but %.1000q", result.Text)
			case !c.renders && (!strings.Contains(result.Error, c.want) || !strings.Contains(result.Error, c.object)):
				t.Errorf("%.1000s\ndoes not contain %q and %q", result.Error, c.want, c.object)
			case len(result.Error) > 300_000:
				t.Errorf("the error has %d bytes", len(result.Error))
			}
			t.Logf("%s, %d MiB: %.300s", result.Took, result.Memory>>20, result.Error)
		})
	}
	if !testing.Short() && alone != len(ownProcess) && flag.Lookup("test.run").Value.String() == "" {
		t.Errorf("%d cases ran in processes of their own, and %d are named", alone, len(ownProcess))
	}
}

// hostileProcess runs a case in a process of its own, and returns the result that the process prints.
func hostileProcess(t *testing.T, n int) (result hostileResult) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostile$", "-test.v=false")
	cmd.Env = append(os.Environ(), hostileEnv+"="+strconv.Itoa(n))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process died: %v\n%.2000s", err, stderr.String())
	}
	report, _, _ := strings.Cut(string(out), "\n")
	if err := json.Unmarshal([]byte(report), &result); err != nil {
		t.Fatalf("%v in %.1000q", err, out)
	}
	return result
}

// measure runs the case under a watchdog, which ends the process if the case needs ten times the time or memory
// allowed.
func (c hostileCase) measure() (result hostileResult) {
	debug.FreeOSMemory()
	start, memory := processor.Time(), ownMemory()
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if processor.Time()-start > 10*hostileTime || ownMemory()-memory > 3*hostileMemory {
				panic("the hostile case " + strconv.Quote(c.name) + " does not end")
			}
		}
	}()
	limits := fleet.Limits{FileTime: time.Minute} // on a busy machine
	if c.want == tooSlow {
		limits.FileTime = 500 * time.Millisecond
	}
	text, err := c.run(context.Background(), limits)
	close(ended)
	result = hostileResult{Took: processor.Time() - start, Memory: ownMemory() - memory}
	result.Text = text[:min(len(text), 10_000)]
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

// ownMemory returns the memory that Go has from the system, in bytes. Go returns memory slowly, so right after a case
// it is the case's peak.
func ownMemory() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// ofFleet returns the run function of a case: it runs the engine on a fleet, and returns the reconciler file of the
// fleet's only target.
func ofFleet(build func() *fleet.Fleet) runFunc { return ofFleetWith(build, engine.Options{}) }

func ofFleetWith(build func() *fleet.Fleet, o engine.Options) runFunc {
	return func(ctx context.Context, limits fleet.Limits) (string, error) {
		f := build()
		f.Limits = limits
		made, problems := engine.Run(ctx, f, o)
		if err := problems.Err(); err != nil {
			return "", err
		}
		var files strings.Builder
		for i := range made.Tree.Folders {
			for f := range made.Tree.Files(i) {
				if strings.HasSuffix(f.Path, "reconciler.yaml") {
					files.Write(f.Content)
				}
			}
		}
		return files.String(), nil
	}
}

// ofTemplate returns the run function of a case with a template. The template gets the values and the secret.
func ofTemplate(template string, values map[string]string) runFunc {
	return ofFleet(func() *fleet.Fleet {
		f := teamFleet(template, "", map[string]string{"path": "./x", "repo": "r"})
		f.Configs[0].Data = map[string]string{"SECRET": secret}
		for k, v := range values {
			f.Configs[0].Data[k] = v
		}
		f.Templates = append(f.Templates, &fleet.Template{
			Meta: fleet.Meta{Name: "c"}, Type: fleet.TemplateConfig, Manifests: []string{"kind: ConfigMap\n"},
		})
		f.ClusterTypes[0].ConfigType = "c"
		return f
	})
}

func wordsOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
