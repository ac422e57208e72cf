// Package corpus_test replays a corpus of random stories of the provider, and compares them to the byte with what an
// earlier version did. Each step of a story is a case: a configuration, a state, a private state and a branch, with the
// provider's plan, diagnostics, states, commits and pull requests. See README.md.
package corpus_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const (
	shards = 9
	// rareShard is the shard of the [rareStories].
	rareShard = shards - 1
	// storiesOfShard is the number of stories of each kind in a shard. The shard of the rare stories has rareRounds of
	// each kind.
	storiesOfShard = 2
	rareRounds     = 3
)

// recordVariable is an environment variable with a regular expression. The test records a story again if the story
// differs from its recording and its name matches.
const recordVariable = "KALYPSO_RECORD_CORPUS"

func TestMain(m *testing.M) {
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_KALYPSO"} {
		_ = os.Setenv(name, "OFF")
	}
	debug.SetGCPercent(800)
	if os.Getenv("TMPDIR") == "" && runsPrograms("/dev/shm") {
		_ = os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

// runsPrograms reports whether programs can run in a folder, such as the hooks of the repos. The repos of the stories
// consist of many small files, for which a file system in memory takes less processor time.
func runsPrograms(folder string) bool {
	f, err := os.CreateTemp(folder, "corpus-*.sh")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString("#!/bin/sh\n")
	return errors.Join(err, f.Chmod(0o700), f.Close()) == nil && exec.Command(f.Name()).Run() == nil
}

// TestCorpus replays all stories.
func TestCorpus(t *testing.T) {
	repo := template(t)
	schemas := protocol.ReadSchemas(t, provider.NewServer("test"))
	var cases atomic.Int64
	t.Run("shards", func(t *testing.T) {
		for i := range shards {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if i > 0 && i != rareShard {
					slow.Skip(t)
				}
				sh := newShard(t, schemas)
				var text, reasons strings.Builder
				kinds, rounds := stories(repo), storiesOfShard
				if i == rareShard {
					kinds, rounds = rareStories(repo), rareRounds
				}
				for round := range rounds {
					for kind, s := range kinds {
						cases.Add(int64(s.steps))
						told := sh.runStory(t, s, uint64((i*storiesOfShard+round)*100+kind))
						text.WriteString(told.String())
						reasons.WriteString(told.reasons.String())
					}
				}
				compare(t, shardFile(i), text.String())
				compare(t, reasonsFile(i), reasons.String())
			})
		}
	})
	t.Logf("%d cases", cases.Load())
}

// shard contains the clock and the servers of its stories, which share them because servers take long to start.
type shard struct {
	now      time.Time
	fake     *githubfake.Server
	git      *gitserver.Server // with the repos of stories that need no GitHub
	schemas  *protocol.Schemas
	provider tfprotov6.ProviderServer // configured again for each command, like the new process that Terraform starts
}

func newShard(t *testing.T, schemas *protocol.Schemas) *shard {
	t.Helper()
	sh := &shard{schemas: schemas, git: gitserver.New(t, t.TempDir(), gitserver.InProcess())}
	clock := func() time.Time { return sh.now }
	sh.fake = githubfake.New(t, hostfake.WithClock(clock))
	sh.provider = provider.NewServer("test", provider.WithClock(clock), provider.WithProofKeys(nil))
	return sh
}

// runStory runs a story, and returns its trace.
func (sh *shard) runStory(t *testing.T, s story, seed uint64) *trace {
	t.Helper()
	w := &world{shard: sh, Rand: rand.New(rand.NewPCG(seed, 1)), t: t, seed: seed, trace: newTrace()}
	w.now = start
	w.fake.ClearFailures()
	s.begin(w)
	w.trace.line("%s%s %d", storyMark, s.name, seed)
	w.trace.reason("%s%s %d", storyMark, s.name, seed)
	for step := range s.steps {
		w.trace.line("# step %d", step)
		w.trace.reason("# step %d", step)
		if w.failed && w.chance(60) {
			w.did("all is made right")
			s.mend(w)
		}
		w.failed = false
		if step > 0 {
			for range 1 + w.IntN(2) {
				w.edit(s.edits)
			}
		}
		w.step()
		w.show()
	}
	return w.trace
}

// show adds the private state, the branches and the pull requests to the trace, as they are after the step.
func (w *world) show() {
	w.t.Helper()
	w.trace.private(w.t, w.resource.Private)
	server := w.git
	if w.on != nil {
		server = w.fake.Git
	}
	w.trace.branches(w.t, server.Storage(w.repo))
	if w.other != "" {
		w.trace.branches(w.t, server.Storage(w.other))
	}
	if w.on != nil {
		w.trace.pulls(w.on)
	}
}

// compare compares the traces of a shard with its recorded traces.
func compare(t *testing.T, file, got string) {
	t.Helper()
	recorded, now := read(t, file), strings.Split(got, storyMark)
	pattern := os.Getenv(recordVariable)
	if pattern != "" {
		defer func() { record(t, file, strings.Join(recorded, storyMark)) }()
	}
	switch {
	case len(recorded) == len(now):
	case pattern == "":
		t.Fatalf("%d stories are recorded, and %d were replayed", len(recorded), len(now))
	default:
		recorded = now
	}
	for i := range recorded {
		want, replayed := withDifferences(recorded[i]), withoutAdditions(now[i])
		if want == replayed {
			continue
		}
		name, _, _ := strings.Cut(now[i], "\n")
		if pattern != "" && regexp.MustCompile(pattern).MatchString(name) {
			recorded[i] = replayed // other stories keep their recordings, with the listed differences
			continue
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(replayed, "\n")); diff != "" {
			t.Errorf("story %s (-recorded +now):\n%s", name, diff)
		}
	}
}

// storyMark begins the line with the name of each story.
const storyMark = "=== "

// read returns the recorded stories of a shard.
func read(t *testing.T, file string) []string {
	t.Helper()
	packed, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv(recordVariable) != "" {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), storyMark)
}

// everything returns all recorded stories.
func everything(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for shard := range shards {
		for _, story := range read(t, shardFile(shard)) {
			all.WriteString(story)
		}
	}
	return all.String()
}

func shardFile(shard int) string { return filepath.Join("testdata", fmt.Sprintf("%d.txt.gz", shard)) }

// reasonsFile is the file with the reasons of a shard's plans. They were recorded later than the stories.
func reasonsFile(shard int) string {
	return filepath.Join("testdata", fmt.Sprintf("%d.reasons.txt.gz", shard))
}

func record(t *testing.T, file, text string) {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(z, text)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(file, packed.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
