package windows_test

import (
	"compress/gzip"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
)

// parse parses windows, and fails the test if they are invalid.
func parse(t testing.TB, all ...windows.Arguments) windows.Windows {
	t.Helper()
	parsed, ps := windows.Parse(all)
	if len(ps) > 0 {
		t.Fatalf("%+v: %v", all, ps)
	}
	return parsed
}

// TestOracle compares the states of 10,000 random windows with the states that testdata/oracle.py recorded from
// croniter and dateutil; with -short, every eighth of them.
func TestOracle(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/oracle.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	var columns [][]string
	for line := range strings.Lines(string(all)) {
		columns = append(columns, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	minutes := func(text string) time.Duration {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * time.Minute
	}
	now, open, changes := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0, 0
	for i, schedule := range columns[1] {
		duration, zone, state, wait := columns[2][i], columns[3][i], columns[4][i], columns[5][i]
		now = now.Add(minutes(columns[0][i]))
		var at time.Time
		if wait != "" {
			at = now.Add(minutes(wait))
			changes++
		}
		if state == "open" {
			open++
		}
		if i%8 != 0 && testing.Short() {
			continue
		}
		s := parse(t, windows.Arguments{
			Kind: windows.Allow, Schedule: schedule, Duration: duration, TimeZone: zone,
		}).At(now)
		got := s.OpensAt
		if s.Closed == "" {
			got = s.OpenUntil
		}
		if (s.Closed == "") != (state == "open") || !got.Equal(at) {
			t.Errorf("%s for %s in %s at %s: %+v, want %s at %s", schedule, duration, zone, now, s, state, at)
		}
	}
	if n := len(columns[1]); n != 10_000 || open < 2000 || n-open < 2000 || changes < 8000 {
		t.Errorf("%d windows, of which %d are open and %d change", n, open, changes)
	}
}
