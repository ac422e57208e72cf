package record

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
)

// Files returns the files to write to the branch with a rendering: its record, and the file of the promoted commit,
// unless that is empty.
func (r Record) Files(at destination.Destination, promotedCommit string) map[string][]byte {
	files := map[string][]byte{at.RecordPath(): r.Marshal()}
	if promotedCommit != "" {
		files[PromotedCommitFile] = []byte(promotedCommit)
	}
	return files
}

// Error means that a branch has a record at a destination, and that it can't be used.
type Error struct {
	At  destination.Destination
	Err error // see [Parse]
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("at %s, the record %s can't be used: %s", e.At, e.At.RecordPath(), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Read reads the record at a destination, or returns nil if there is none. An [*Error] means that it can't be used; all
// other errors are those of package branch.
func Read(snapshot *gitbranch.Snapshot, at destination.Destination) (*Record, error) {
	r, _, err := read(snapshot, at)
	return r, err
}

// ReadPromoted is [Read] that also reads the commit in [PromotedCommitFile], together with the record. The commit is
// empty if there is no such file.
func ReadPromoted(snapshot *gitbranch.Snapshot, at destination.Destination) (r *Record, commit string, err error) {
	r, files, err := read(snapshot, at, PromotedCommitFile)
	return r, strings.TrimSpace(string(files[PromotedCommitFile])), err
}

func read(
	snapshot *gitbranch.Snapshot, at destination.Destination, more ...string,
) (*Record, map[string][]byte, error) {
	files, err := snapshot.ReadFiles(append([]string{at.RecordPath()}, more...))
	if err != nil {
		return nil, nil, err
	}
	text, ok := files[at.RecordPath()]
	if !ok {
		return nil, files, nil
	}
	r, err := Parse(text)
	if err != nil {
		return nil, files, &Error{at, err}
	}
	return &r, files, nil
}
