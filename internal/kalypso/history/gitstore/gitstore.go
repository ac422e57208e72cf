// Package gitstore keeps the runs in files on a branch of a Git repo: one file and one commit for each deployment
// record. Files never change.
package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Bounds of a store, in bytes.
const (
	maxFile = 32 << 20
	maxRead = 256 << 20 // of the files of one read
)

var _ history.Store = (*Store)(nil)

// Store is a folder on a branch. The errors of its methods are those of Git, or describe a broken file.
type Store struct {
	branch *gitbranch.Branch
	name   string // of the branch
	path   string
	author gitbranch.Author
}

// Open returns a store. It contacts no server. The time of a commit is the time of its observation.
func Open(client *gitremote.Client, repo, branch, path string, author gitbranch.Author) (*Store, error) {
	b, err := gitbranch.Open(client, repo, branch)
	if err != nil {
		return nil, err
	}
	return &Store{branch: b, name: branch, path: path, author: author}, nil
}

// folder returns the folder of an environment.
func (s *Store) folder(environment string) (string, error) {
	if strings.Contains(environment, "/") || gitbranch.CheckPath(environment) != nil || environment == "." {
		return "", fmt.Errorf("the environment %q can't be the name of a folder; set environment to another name",
			environment)
	}
	return path.Join(s.path, environment), nil
}

// Snapshot implements [history.Store].
func (s *Store) Snapshot(ctx context.Context, environment string) (history.Snapshot, error) {
	folder, err := s.folder(environment)
	if err != nil {
		return history.Snapshot{}, err
	}
	snapshot, err := s.branch.Snapshot(ctx)
	if err != nil {
		return history.Snapshot{}, err
	}
	defer snapshot.Close()
	l, err := open(snapshot, folder)
	if err != nil {
		return history.Snapshot{}, err
	}
	return l.last()
}

// Record implements [history.Store]. An absent branch begins with the first deployment record.
func (s *Store) Record(ctx context.Context, r history.Write) (done history.WriteResult, err error) {
	folder, err := s.folder(r.Observation.Environment)
	if err != nil {
		return done, err
	}
	for attempt, err := range s.branch.Attempts(ctx, gitbranch.PushOptions{CreateBranch: true}) {
		if err != nil {
			return done, err
		}
		l, err := open(attempt.Base, folder)
		if err != nil {
			return done, attempt.Failed(err)
		}
		var f *file
		f, done, err = l.next(r)
		if err != nil || f == nil {
			return done, attempt.Failed(err)
		}
		content, err := f.encode()
		if err != nil {
			return done, err
		}
		author := s.author
		author.When = f.ObservedAt
		_, err = attempt.Push(ctx, &gitbranch.Edit{
			Files: map[string][]byte{l.freeName(f): content}, Author: author,
			NoTrailers: true,
			Message:    fmt.Sprintf("Record what ran in %s: %s", f.Environment, problem.Count(done.Changes, "change")),
		})
		if err == nil {
			break
		}
	}
	return done, nil
}

// RemovalSteps implements [history.Store].
func (s *Store) RemovalSteps(environment string, after time.Time) string {
	folder := path.Join(s.path, environment)
	return fmt.Sprintf("remove the files in %s of branch %s that are later than %s-….jsonl.", printable.Line(folder),
		printable.Line(s.name), printable.Line(path.Join(folder, after.UTC().Format(layout))))
}

// log is the folder of an environment.
type log struct {
	snapshot *gitbranch.Snapshot
	folder   string
	files    []reference // oldest first
	read     int64       // bytes
}

// open lists the files of an environment. Together with a [fileError], it returns the files that it could use.
func open(snapshot *gitbranch.Snapshot, folder string) (*log, error) {
	l := &log{snapshot: snapshot, folder: folder}
	if err := checkFolder(snapshot, folder); err != nil {
		return l, err
	}
	if err := snapshot.Load(folder); err != nil {
		return l, err
	}
	var foreign error
	err := snapshot.Walk(folder, func(name string, e object.TreeEntry) error {
		r, ok := parseName(folder, name)
		switch {
		case ok && isFile(e):
			l.files = append(l.files, r)
		case foreign == nil && (ok || reserved.MatchString(strings.TrimPrefix(name, folder+"/"))):
			foreign = brokenFile("%s is in the records' folder, but is not a record; move or remove it", name)
		}
		return nil
	})
	return l, cmp.Or(err, foreign)
}

// checkFolder returns a [*fileError] if something that is not a folder occupies the path of a folder of the store.
func checkFolder(snapshot *gitbranch.Snapshot, folder string) error {
	for at := folder; at != "."; at = path.Dir(at) {
		if e, ok, err := snapshot.Entry(at); err != nil || ok && e.Mode != filemode.Dir {
			return cmp.Or(err, brokenFile("%s is not a folder, so it can't contain the records; move or remove it", at))
		}
	}
	return nil
}

// freeName returns the path of a new file. If the name is taken by another record of the same second, the new name
// contains more digits of the hash.
func (l *log) freeName(f *file) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(l.files, func(r reference) bool { return r.path == name })
	}
	digits := 12
	for taken(newName(l.folder, f, digits)) && digits < len(f.Observation) {
		digits++
	}
	return newName(l.folder, f, digits)
}

// parse reads files, oldest first.
func (l *log) parse(references []reference) ([]*file, error) {
	names := lists.Map(references, func(r reference) string { return r.path })
	texts, err := l.snapshot.ReadFiles(names)
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, r := range references {
		text := texts[r.path]
		l.read += int64(len(text))
		if l.read > maxRead {
			return nil, fmt.Errorf("the records in %s take more than %d MiB: %w", l.folder, maxRead>>20, history.ErrTooLarge)
		}
		f, err := parse(r, text)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b *file) int {
		return cmp.Or(a.ObservedAt.Compare(b.ObservedAt), cmp.Compare(a.Observation, b.Observation))
	})
	return files, nil
}

// last returns the content of the newest file.
func (l *log) last() (history.Snapshot, error) {
	if len(l.files) == 0 {
		return history.Snapshot{}, nil
	}
	newest := l.files[len(l.files)-1].at // several files may be of that second
	first := slices.IndexFunc(l.files, func(r reference) bool { return r.at.Equal(newest) })
	files, err := l.parse(l.files[first:])
	if err != nil {
		return history.Snapshot{}, err
	}
	return files[len(files)-1].last(), nil
}

// place returns the newest readable record among the last ten, or zero. All records of an environment contain the same
// location, so this is also the location of an environment whose newest file is broken. The error is that of the newest
// file.
func (l *log) place() (last history.Snapshot, err error) {
	for _, r := range slices.Backward(l.files[max(0, len(l.files)-10):]) {
		files, broken := l.parse([]reference{r})
		if err = cmp.Or(err, broken); broken == nil {
			return files[0].last(), err
		}
		if !isBroken(broken) {
			return history.Snapshot{}, broken
		}
	}
	return history.Snapshot{}, err
}

// since returns the last file that contains all instances and was observed at or before at, and all files after it.
// Without such a file, it returns all files. It reads month by month.
func (l *log) since(at time.Time) ([]*file, error) {
	var files []*file
	for end := len(l.files); end > 0; {
		of := month(l.files[end-1].at)
		first := slices.IndexFunc(l.files, func(r reference) bool { return month(r.at) == of })
		older, err := l.parse(l.files[first:end])
		if err != nil {
			return nil, err
		}
		files, end = append(older, files...), first
		for i, f := range slices.Backward(older) {
			if f.After == "" && !f.ObservedAt.After(at) {
				return files[i:], nil
			}
		}
	}
	return files, nil
}

// next returns the next file, or nil if there is nothing to write.
func (l *log) next(r history.Write) (*file, history.WriteResult, error) {
	files, err := l.since(r.Observation.ObservedAt)
	if err != nil {
		return nil, history.WriteResult{}, err
	}
	var known history.Timeline
	var last history.Snapshot
	for _, f := range files {
		known.Add(f.starts)
		last = f.last()
	}
	if !continuous(files) {
		r.Previous = nil // the store may have lost files
	}
	n, err := r.Prepare().Rows(last, func([]history.InstanceChange) (*observation.Observation, error) {
		return known.Present(), nil
	})
	if err != nil || !n.Write {
		return nil, n.Result, err
	}
	f := newFile(r.Observation, n.Hash, last.Hash)
	f.starts = history.Starts(n.Changes)
	if n.Complete || month(last.ObservedAt) != month(f.ObservedAt) {
		known.Add(f.starts)
		present := known.Present()
		present.ObservedAt = f.ObservedAt
		f.After, f.starts = "", history.Starts(history.Compare(nil, present))
	}
	return f, n.Result, nil
}

// continuous reports whether the first file contains all instances, and each other file continues the file before it.
func continuous(files []*file) bool {
	for i, f := range files {
		if i == 0 && f.After != "" || i > 0 && f.After != "" && f.After != files[i-1].Observation {
			return false
		}
	}
	return len(files) > 0
}

// Read implements [history.Store].
func (s *Store) Read(ctx context.Context, q history.Query) (history.StoredRuns, error) {
	snapshot, err := s.branch.Snapshot(ctx)
	if err != nil {
		return history.StoredRuns{}, err
	}
	defer snapshot.Close()
	l, err := s.find(snapshot, q)
	if err != nil || l == nil {
		return history.StoredRuns{}, err
	}
	l.read = 0
	files, err := l.since(q.Since)
	if err != nil || len(files) == 0 {
		return history.StoredRuns{}, err
	}
	var timeline history.Timeline
	var past history.StoredRuns
	for _, f := range files {
		timeline.Add(f.starts)
		past.Environment, past.RecordedUntil = f.Environment, f.ObservedAt
		if !f.ObservedAt.Before(q.Since) {
			past.Observed = append(past.Observed, history.RecordedVerdict{At: f.ObservedAt, Head: f.Head,
				PromotedCommit: f.PromotedCommit, Verdict: f.Verdict, VerdictSince: f.VerdictSince})
		}
	}
	timeline.Select(q, &past)
	return past, nil
}

// find returns the log of the environment that a query names. If the query names none, it returns the log of the
// environment at the query's location, or nil. A broken environment at another location is ignored. If no environment
// matches, and the location of a broken one can't be read, find returns its error, since it may be the one that was
// asked for.
func (s *Store) find(snapshot *gitbranch.Snapshot, q history.Query) (*log, error) {
	if q.Environment != "" {
		folder, err := s.folder(q.Environment)
		if err != nil {
			return nil, err
		}
		return open(snapshot, folder)
	}
	if err := checkFolder(snapshot, s.path); err != nil {
		return nil, err
	}
	names, err := s.environments(snapshot)
	if err != nil {
		return nil, err
	}
	var unknown error
	var found *log
	var newest time.Time
	for _, name := range names {
		l, err := open(snapshot, path.Join(s.path, name))
		if err != nil && !isBroken(err) {
			return nil, err
		}
		last, unread := l.place()
		broken := cmp.Or(unread, err)
		switch here := last.IsAt(q.Repo, q.Branch, q.Path); {
		case broken != nil && (here || !isBroken(broken)):
			return nil, broken
		case last.Hash == "":
			unknown = cmp.Or(unknown, broken)
		case here && last.ObservedAt.After(newest):
			found, newest = l, last.ObservedAt
		}
	}
	if found == nil {
		return nil, unknown
	}
	return found, nil
}

// environments returns the sorted names of the environments' folders. It includes links and submodules, which may have
// replaced a folder.
func (s *Store) environments(snapshot *gitbranch.Snapshot) ([]string, error) {
	folders, err := snapshot.Folders(s.path)
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(folders))
	others, err := snapshot.NonFolders(s.path)
	if err != nil {
		return nil, err
	}
	for name, e := range others {
		if !isFile(e) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// isFile reports whether an entry is neither a link nor a submodule.
func isFile(e object.TreeEntry) bool { return e.Mode.IsFile() && e.Mode != filemode.Symlink }
