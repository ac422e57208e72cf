package history_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// killedPlace is the environment variable with the store to which [TestWriteUntilKilled] writes.
const killedPlace = "KALYPSO_TEST_KILLED_PLACE"

// TestWriteUntilKilled runs in the process that [TestKilledWriter] kills. It prints a line before the first record and
// after each. In other processes it is skipped.
func TestWriteUntilKilled(t *testing.T) {
	kind, at, set := strings.Cut(os.Getenv(killedPlace), "=")
	if !set {
		t.Skip("this is a part of TestKilledWriter")
	}
	var s history.Store
	if kind == "git" {
		s = gitPlace{at}.open(t)
	} else {
		s = (&databasePlace{url: at}).open(t)
	}
	last, err := s.Snapshot(context.Background(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("begun")
	var was *observation.Observation
	for i := int(last.ObservedAt.Sub(minute(0)).Minutes()) + 1; ; i++ {
		was = mustRecord(t, s, was, observed(i, map[string]int{fmt.Sprintf("c1 web %d current", i): 0,
			fmt.Sprintf("c2 web %d failed", i%2): 0, "c3 web x current": 0})).Present
		fmt.Println("recorded")
	}
}

// A process that is killed while it writes leaves a complete record or none. The next record brings the current runs up
// to date.
func TestKilledWriter(t *testing.T) {
	slow.Skip(t)
	eachStore(t, func(t *testing.T, p place) {
		at := ""
		switch p := p.(type) {
		case gitPlace:
			at = "git=" + p.repo
		case *databasePlace:
			at = "postgres=" + p.url
		}
		mustRecord(t, p.open(t), nil, observed(0, map[string]int{"c1 web first current": 0}))
		var usual time.Duration // the time that a record takes on this machine
		for n := range 8 {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriteUntilKilled$")
			cmd.Env = append(os.Environ(), killedPlace+"="+at)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Scan()
			for range 2 - n%3 {
				begun := time.Now()
				if !lines.Scan() {
					t.Fatalf("the process ended: %v", cmd.Wait())
				}
				usual = time.Since(begun)
			}
			time.Sleep(rand.N(2 * usual))
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			checkRuns(t, p.open(t), "prod")
		}
		s := p.open(t)
		past, err := s.Read(t.Context(), everything("prod"))
		if err != nil || len(past.Observed) < 10 {
			t.Fatalf("%d records, %v", len(past.Observed), err)
		}
		for i, o := range past.Observed { // no record is missing: the process writes one for each minute
			if !o.At.Equal(minute(i)) {
				t.Errorf("record %d is of %s", i, o.At)
			}
		}
		before := runsOf(t, s, "prod")
		mustRecord(t, s, nil, observed(1e6, map[string]int{"c1 web last current": 0}))
		after := runsOf(t, s, "prod")
		if len(after) != len(before)+1 || !strings.Contains(strings.Join(after, " "), "c1/web vlast current 1e+06-") {
			t.Errorf("%d runs, then %d: %s", len(before), len(after), after)
		}
		checkRuns(t, s, "prod")
	})
}
