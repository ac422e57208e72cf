package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// format is the version of the files.
const format = 1

// header is the first line of a file.
type header struct {
	Format         int       `json:"v"`
	Environment    string    `json:"environment"`
	Repo           string    `json:"gitops_repo"`
	Branch         string    `json:"branch"`
	Path           string    `json:"path"`
	ObservedAt     time.Time `json:"observed_at"`
	Observation    string    `json:"observation"`
	After          string    `json:"after"` // "": the file contains everything
	Verdict        string    `json:"verdict"`
	VerdictSince   time.Time `json:"verdict_since"`
	Head           string    `json:"head"`
	PromotedCommit string    `json:"promoted_commit"`
	Unanswered     []string  `json:"unanswered"`
}

// file is a deployment record: one observation, and the runs that began or ended with it, one on each other line.
type file struct {
	header
	starts []history.Start
}

func (f *file) last() history.Snapshot {
	return history.Snapshot{Hash: f.Observation, ObservedAt: f.ObservedAt, Repo: f.Repo, Branch: f.Branch, Path: f.Path}
}

// newFile returns the deployment record of an observation without its starts.
func newFile(o *observation.Observation, hash, after string) *file {
	return &file{header: header{
		Format: format, Environment: o.Environment, Repo: o.Repo, Branch: o.Branch, Path: o.Path,
		ObservedAt: o.ObservedAt.UTC(), Observation: hash, After: after, Verdict: o.Verdict,
		VerdictSince: cmp.Or(o.VerdictSince.UTC(), o.ObservedAt.UTC()), Head: o.Head, PromotedCommit: o.PromotedCommit,
		Unanswered: o.Unanswered,
	}}
}

func (f *file) encode() ([]byte, error) {
	var text bytes.Buffer
	lines := jsontext.NewEncoder(&text, jsontext.AllowInvalidUTF8(true))
	if err := jsonv2.MarshalEncode(lines, f.header); err != nil {
		return nil, err
	}
	for _, s := range f.starts {
		if err := jsonv2.MarshalEncode(lines, s); err != nil {
			return nil, err
		}
		if text.Len() > maxFile {
			return nil, fmt.Errorf("the record of %s takes more than %d MiB: %w", f.Environment, maxFile>>20,
				history.ErrTooLarge)
		}
	}
	return text.Bytes(), nil
}

// fileError means that a file of an environment can't be used. Other environments can still be read.
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

func isBroken(err error) bool { return errors.As(err, new(*fileError)) }

// repair is the advice at the end of a [fileError].
const repair = "restore it from the branch's history or remove it"

func brokenFile(format string, arguments ...any) error {
	return &fileError{fmt.Errorf(format, arguments...)}
}

// parse parses a file.
func parse(r reference, text []byte) (*file, error) {
	f := &file{}
	lines := jsontext.NewDecoder(bytes.NewReader(text))
	if err := jsonv2.UnmarshalDecode(lines, &f.header); err != nil {
		return nil, brokenFile("file %s is not a record, %s: %w", r.path, repair, err)
	}
	if f.Format != format {
		return nil, brokenFile("file %s has the format %d, and this version of the provider reads format %d; use a newer one",
			r.path, f.Format, format)
	}
	if !f.ObservedAt.Truncate(time.Second).Equal(r.at) {
		return nil, brokenFile("file %s contains a record of another time, %s, %s", r.path, f.ObservedAt.Format(time.RFC3339),
			repair)
	}
	for line := 2; ; line++ {
		var s history.Start
		switch err := jsonv2.UnmarshalDecode(lines, &s); {
		case errors.Is(err, io.EOF):
			return f, nil
		case err != nil:
			return nil, brokenFile("line %d of file %s can't be parsed, %s: %w", line, r.path, repair, err)
		case s.Since.After(f.ObservedAt): // such a run would hide all later runs of these instances
			return nil, brokenFile("line %d of file %s begins a run after it was observed, at %s, %s", line, r.path,
				s.Since.Format(time.RFC3339), repair)
		}
		f.starts = append(f.starts, s)
	}
}

// layout is the beginning of a file's path below the environment's folder: the time of its record, in seconds.
const layout = "2006/01/02/150405Z"

// fileName matches the rest of the path.
var fileName = regexp.MustCompile(`^-[0-9a-f]{12,64}\.jsonl$`)

// reference is a file of an environment, by its name.
type reference struct {
	path string
	at   time.Time // in seconds
}

// parseName returns the time of a file by its path below the environment's folder. ok is false for other files.
func parseName(folder, name string) (r reference, ok bool) {
	below := strings.TrimPrefix(name, folder+"/")
	if len(below) < len(layout) || !fileName.MatchString(below[len(layout):]) {
		return reference{}, false
	}
	at, err := time.Parse(layout, below[:len(layout)])
	return reference{name, at}, err == nil
}

// reserved matches a path below an environment's folder where only deployment records and their folders are.
var reserved = regexp.MustCompile(`^\d{4}(/\d{2}(/\d{2}(/.*)?)?)?$`)

// newName returns the path of a new file.
func newName(folder string, f *file, digits int) string {
	return path.Join(folder, f.ObservedAt.Format(layout)+"-"+f.Observation[:digits]+".jsonl")
}

// month identifies a month.
func month(t time.Time) string { return t.UTC().Format("2006/01") }
