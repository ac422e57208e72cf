package corpus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// trace is the text of a story: the diagnostics, the state, the branches and the pull requests after each step. It
// shows a value when it changes.
type trace struct {
	b        strings.Builder
	reasons  strings.Builder // of the plans, as the provider logs them
	replaces []string
	before   map[string]map[string]string // topic → line's name → value
	trees    map[plumbing.Hash]map[string]string
}

func newTrace() *trace {
	return &trace{before: map[string]map[string]string{}, trees: map[plumbing.Hash]map[string]string{}}
}

// replace makes the trace replace texts that differ between runs. The parameters are pairs: a text and its replacement.
func (t *trace) replace(pairs ...string) { t.replaces = append(t.replaces, pairs...) }

func (t *trace) line(format string, a ...any) { t.write(&t.b, format, a...) }

func (t *trace) reason(format string, a ...any) { t.write(&t.reasons, format, a...) }

func (t *trace) write(b *strings.Builder, format string, a ...any) {
	text := strings.NewReplacer(t.replaces...).Replace(fmt.Sprintf(format, a...))
	b.WriteString(strings.TrimRight(text, "\n") + "\n")
}

func (t *trace) String() string { return t.b.String() }

// changes adds the lines of a topic that have changed since the topic was last shown: "+name = value" and "-name".
func (t *trace) changes(topic string, now map[string]string) {
	before := t.before[topic]
	t.before[topic] = now
	t.difference(topic, before, now)
}

func (t *trace) difference(topic string, before, now map[string]string) {
	first := true
	say := func(format string, a ...any) {
		if first {
			t.line("%s:", topic)
			first = false
		}
		t.line(format, a...)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := now[name]; !there {
			say("  -%s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, there := before[name]; !there || was != now[name] {
			say("  +%s = %s", name, now[name])
		}
	}
}

func (t *trace) state(topic string, v tftypes.Value) { t.changes(topic, linesOf(v)) }

// linesOf returns the lines of a state or a plan, without the guardrails that [asRecorded] adds, and without the
// attributes that came after the corpus was recorded.
func linesOf(v tftypes.Value) map[string]string {
	lines := protocol.Lines(v)
	delete(lines, "guardrails.emptied")
	delete(lines, "guardrails.orphaned")
	delete(lines, "guardrails.invalid_objects")
	maps.DeleteFunc(lines, func(name, _ string) bool { return newAttributes.MatchString(name) })
	return lines
}

// newAttributes matches the attributes that came after the corpus was recorded: those failures of a deployment state
// that are reported before their deadline, and the approved commits of the argument promotion.
var newAttributes = regexp.MustCompile(
	`^(?:(?:folders\.[^.]+|problems\[\d+\])\.failing|promotion\.approved\[\d+\])$`)

// plan adds the changes of a plan.
func (t *trace) plan(p *protocol.Plan, prior tftypes.Value) {
	switch {
	case !p.Changes():
		t.state("state", prior)
		t.line("the plan changes nothing")
		return
	case p.Planned.IsNull():
		t.line("the plan destroys it")
		return
	}
	t.state("state", prior)
	t.difference("planned", linesOf(prior), linesOf(p.Planned))
}

// private adds the content of the private state, without its caches, such as nothing_to_do, which is the cached result
// of the next plan.
func (t *trace) private(test *testing.T, private []byte) {
	test.Helper()
	all := map[string]string{}
	var keys map[string][]byte
	if len(private) > 0 {
		if err := json.Unmarshal(private, &keys); err != nil {
			test.Fatal(err)
		}
	}
	delete(keys, "nothing_to_do")
	for key, value := range keys {
		if s, err := delivery.DecodeState(value); err == nil {
			omitRepeats(s)
			value, err = json.Marshal(s)
			if err != nil {
				test.Fatal(err)
			}
		}
		flatten(all, key, unpack(value))
	}
	t.changes("private", all)
}

// omitRepeats removes the parts of a state that equal the delivered tree, since the private state does not store them
// twice.
func omitRepeats(s *delivery.State) {
	if s.LastRead.Record != nil && s.LastRead.RecordHash == s.DeliveredRecord {
		s.LastRead.Record.Decisions = nil
	}
	for name, folder := range s.LastRead.Folders {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = nil
			s.LastRead.Folders[name] = folder
		}
	}
	if s.Proposal != nil {
		omitRepeats(s.Proposal.Head)
	}
	for _, old := range s.OldLocations {
		omitRepeats(old.State)
	}
}

// unpack returns the value of JSON, or a text that is not JSON.
func unpack(value []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(value)
	}
	return v
}

// renamedKeys maps keys of the private state to the names that they had when the corpus was recorded.
var renamedKeys = map[string]string{
	"foreign":                     "others",
	"location":                    "at",
	"operator_folders":            "operators",
	"other_renderings":            "renderings",
	"previous_locations":          "old_places",
	"requested_reviewers":         "asked",
	"target_promoted_commit_file": "tracking",
}

func flatten(all map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			if name == "cache" || name == "apply" { // added after the recording: the diagnostic about drift shows it
				continue
			}
			if shown, renamed := renamedKeys[name]; renamed {
				name = shown
			}
			if name == "targets" {
				part = targetsOf(part)
			}
			flatten(all, at+"."+name, part)
		}
	case []any:
		for i, part := range v {
			flatten(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	case nil:
	case string:
		all[at] = strconv.Quote(v)
	default:
		all[at] = fmt.Sprint(v)
	}
}

// targetsOf returns the hash and the name of each deployment target of a folder, in the form of the private state when
// the corpus was recorded.
func targetsOf(list any) any {
	var targets []inventory.Target
	if text, err := json.Marshal(list); err != nil || json.Unmarshal(text, &targets) != nil {
		return list
	}
	pairs := make([]any, len(targets))
	for i, t := range targets {
		hash, mark := t.Hash.String(), ""
		if t.FullHash != (gitobject.Hash{}) {
			hash = t.FullHash.String()
		}
		if t.Empty {
			mark = "-"
		}
		pairs[i] = hash + mark + " " + t.Name
	}
	return pairs
}

// branches adds the commits and files of the branches of a repo.
func (t *trace) branches(test *testing.T, repo *filesystem.Storage) {
	test.Helper()
	refs, err := gitserver.References(repo, "refs/heads/")
	if err != nil {
		test.Fatal(err)
	}
	all, heads := map[string]string{}, map[string]string{}
	for name, hash := range refs {
		branch := name.Short()
		commit, err := object.GetCommit(repo, hash)
		if err != nil {
			test.Fatal(err)
		}
		heads[branch] = short(hash) + " " + commit.Author.Name + " " + commit.Author.When.UTC().Format("15:04:05") +
			parents(commit) + " " + strconv.Quote(commit.Message)
		files, err := t.files(commit)
		if err != nil {
			test.Fatal(err)
		}
		for path, hash := range files {
			all[branch+":"+path] = hash
		}
	}
	name := filepath.Base(repo.Filesystem().Root())
	t.changes("branches of "+name, heads)
	t.changes("files of "+name, all)
}

// files returns the files of a commit: path → hash of the content.
func (t *trace) files(commit *object.Commit) (map[string]string, error) {
	if known := t.trees[commit.TreeHash]; known != nil {
		return known, nil
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	t.trees[commit.TreeHash] = all
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		path, entry, err := walker.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case entry.Mode != filemode.Dir:
			all[path] = short(entry.Hash)
		}
	}
}

func short(hash plumbing.Hash) string { return hash.String()[:8] }

func parents(c *object.Commit) string {
	var all strings.Builder
	for _, p := range c.ParentHashes {
		all.WriteString(" <" + short(p))
	}
	return all.String()
}

// pulls adds the pull requests of a repo.
func (t *trace) pulls(repo *githubfake.Repo) {
	all := map[string]string{}
	for _, p := range repo.PullRequests() {
		at := "#" + strconv.Itoa(p.Number) + " "
		all[at+"state"] = p.State
		all[at+"from"] = p.Head + " " + p.HeadCommit + " to " + p.Base
		all[at+"title"] = strconv.Quote(p.Title)
		all[at+"body"] = strconv.Quote(p.Body)
		all[at+"author"] = p.Author
		for name, value := range map[string]string{
			"labels": strings.Join(p.Labels, ", "), "reviewers": strings.Join(p.Reviewers, ", "),
			"teams": strings.Join(p.Teams, ", "), "auto-merge": p.AutoMerge, "merge commit": p.MergeCommit,
		} {
			if value != "" {
				all[at+name] = value
			}
		}
		if p.Draft {
			all[at+"draft"] = "true"
		}
	}
	t.changes("pull requests", all)
}
