package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The bounds of each hostile case.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = 300 << 20
	// hostileEnv names the case that a process of its own runs.
	hostileEnv = "KALYPSO_HOSTILE_CASE"
)

// secret is a value of the platform that no case may show.
const secret = "of-the-platform"

// hostileCase is something that asks for more than it should get.
type hostileCase struct {
	name string
	run  func(ctx context.Context) (string, error)
	// want is in the error, or with renders in the text. Where both are empty, any error will do.
	want    string
	renders bool
	object  string // is in the error: the object that it names
}

// hostileResult is what a process reports of its case.
type hostileResult struct {
	Text, Error string
	Took        time.Duration
	Memory      int64 // at its peak, bytes
}

func hostileCases() []hostileCase {
	var all []hostileCase
	all = append(all, hostileTemplates()...)
	all = append(all, hostileFunctions()...)
	all = append(all, hostileValues()...)
	all = append(all, hostileTeamTexts()...)
	all = append(all, hostileSchemas()...)
	return append(all, hostileYAML()...)
}

// TestHostile runs each case in a process of its own: it must end in time and memory, in an error that names object and
// bound, or render right.
func TestHostile(t *testing.T) {
	cases := hostileCases()
	if n, err := strconv.Atoi(os.Getenv(hostileEnv)); err == nil {
		runHostile(cases[n])
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the peak memory of a process is known on Linux alone")
	}
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 10*hostileTime)
			defer cancel()
			result := hostileProcess(ctx, t, n)
			if result.Took > hostileTime {
				t.Errorf("it took %s", result.Took)
			}
			if result.Memory > hostileMemory || result.Memory == 0 {
				t.Errorf("it took %d MiB", result.Memory>>20)
			}
			if strings.Contains(result.Text+result.Error, secret) {
				t.Error("it shows a value of the platform")
			}
			switch {
			case c.renders && result.Error != "":
				t.Errorf("error %.1000s, want %q", result.Error, c.want)
			case c.renders && !strings.Contains(result.Text, c.want):
				t.Errorf("%.1000q, want %q", result.Text, c.want)
			case !c.renders && result.Error == "":
				t.Errorf("no error, but %.1000q", result.Text)
			case !c.renders && (!strings.Contains(result.Error, c.want) || !strings.Contains(result.Error, c.object)):
				t.Errorf("%.1000s\ndoes not say %q of %q", result.Error, c.want, c.object)
			case len(result.Error) > 300_000:
				t.Errorf("the error has %d bytes", len(result.Error))
			}
			t.Logf("%s, %d MiB: %.300s", result.Took, result.Memory>>20, result.Error)
		})
	}
}

// hostileProcess runs a case in a process, and returns what it reports.
func hostileProcess(ctx context.Context, t *testing.T, n int) (result hostileResult) {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHostile$", "-test.v=false")
	cmd.Env = append(os.Environ(), hostileEnv+"="+strconv.Itoa(n), "GOMAXPROCS=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		t.Fatalf("it hangs")
	}
	if err != nil {
		t.Fatalf("the process died: %v\n%.2000s", err, stderr.String())
	}
	report, _, _ := strings.Cut(string(out), "\n")
	if err := json.Unmarshal([]byte(report), &result); err != nil {
		t.Fatalf("%v in %.1000q", err, out)
	}
	return result
}

// runHostile runs the case that the process is for, and prints what comes of it as one line of JSON.
func runHostile(c hostileCase) {
	start := processorTime()
	text, err := c.run(context.Background())
	result := hostileResult{Text: text, Took: processorTime() - start, Memory: peakMemory()}
	if len(result.Text) > 10_000 {
		result.Text = result.Text[:10_000]
	}
	if err != nil {
		result.Error = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}

// processorTime is what the process has taken of its processor. Other than the time that passes, it is the same on a
// busy machine. More processors would add the time in which the garbage collector had nothing else to do.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakMemory is the most memory that the process had, bytes.
func peakMemory() (peak int64) {
	status, _ := os.ReadFile("/proc/self/status")
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		_, _ = fmt.Sscan(after, &peak) // kB
	}
	return peak << 10
}

// ofFleet is a case that runs the engine on a fleet and gives the files of its only target.
func ofFleet(build func() *fleet.Fleet) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		made, problems := engine.Run(ctx, build(), nil)
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

// ofTemplate is a case of a template, with values beside the secret.
func ofTemplate(template string, values map[string]string) func(ctx context.Context) (string, error) {
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
