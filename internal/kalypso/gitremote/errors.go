package gitremote

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// What can go wrong with a repository, told apart with [errors.Is].
var (
	// ErrRepoNotFound: the server says that there is no such repository, which
	// it also says to whoever may not see it.
	ErrRepoNotFound = errors.New("repository not found")
	// ErrUnauthorized: no credential, a wrong one, or one without the right.
	ErrUnauthorized = errors.New("not authorized")
	// ErrRedirected: the server sends the request to where it may not go, such
	// as a push to another server.
	ErrRedirected = errors.New("redirect refused")
	// ErrUnknownHost: the SSH server's host key is not among the known hosts,
	// or is another one.
	ErrUnknownHost = errors.New("unknown SSH host")
	// ErrUnreachable: no answer, or a connection that broke.
	ErrUnreachable = errors.New("repository cannot be reached")
	// ErrRateLimited: the server takes no more requests for now (HTTP 429).
	ErrRateLimited = errors.New("the server limits requests")
	// ErrEmptyAnswer: the server lists no reference at all, and does not confirm
	// that the one asked for is not there.
	ErrEmptyAnswer = errors.New("the server's answer is empty")
	// ErrRejected: the server refused the push and means it: a protected
	// branch, a hook. See [RejectedError] for its words.
	ErrRejected = errors.New("push rejected")
	// ErrBranchMoved: the branch is not where the push wanted it; somebody was
	// faster, and another try may do.
	ErrBranchMoved = errors.New("branch moved")
	// ErrBranchLocked: a lock file of the branch lies on the server: another push
	// is being written, or one broke off and left it.
	ErrBranchLocked = errors.New("the branch is locked on the server")
	// ErrServerFull: the server has no space left for what is pushed.
	ErrServerFull = errors.New("the server has no space left")
	// ErrObjectNotServed: the server does not hand out the wanted object by
	// its name, by its settings.
	ErrObjectNotServed = errors.New("object not served by name")
	// ErrTooLarge: the answer passed the bound of [WithMaxRead].
	ErrTooLarge = errors.New("repository too large to read")
	// ErrTooManyRefs: the list of references passed the bound of [WithMaxRefList].
	ErrTooManyRefs = errors.New("the server lists too many references")
	// ErrNoTempFile: this machine cannot write a temporary file.
	ErrNoTempFile = errors.New("no temporary file can be written on this machine")
	// ErrCollision: an object of the repository is part of an attack on SHA-1.
	ErrCollision = errors.New("an object of the repository was made to share its SHA-1 with another, which is an attack")
	// ErrGitMissing: a local repository needs the git program, which is not in
	// PATH.
	ErrGitMissing = errors.New("git is not installed")
)

// summaries name the kinds of errors for the head of a message.
var summaries = []struct {
	kind error
	text string
}{
	{ErrEmptyAnswer, "Empty answer of the server"}, // before what led to it
	{ErrTooLarge, "Too much to read"},
	{ErrTooManyRefs, "Too many references"},
	{ErrRepoNotFound, "Repo not found"},
	{ErrUnauthorized, "Credentials refused"},
	{ErrRedirected, "Redirect refused"},
	{ErrUnknownHost, "Unknown SSH host"},
	{ErrRateLimited, "The server limits requests"},
	{ErrBranchLocked, "The branch is locked on the server"},
	{ErrServerFull, "No space left on the server"},
	{ErrCollision, "SHA-1 collision in the repo"},
	{ErrNoTempFile, "No temporary file"},
	{ErrGitMissing, "Git is not installed"},
	{ErrUnreachable, "Repo can't be reached"},
	{context.DeadlineExceeded, "Out of time"},
}

// Summary names the kind of an error in a few words, for the head of a message. It is empty for a refused push, whose
// words the server gives, and for errors of other packages.
func Summary(err error) string {
	for _, known := range summaries {
		if errors.Is(err, known.kind) {
			return known.text
		}
	}
	return ""
}

// Error is what failed on which repository. It unwraps to one of this
// package's sentinels, or to the context's error, never to the text of a
// library; its own text has every secret taken out.
type Error struct {
	Op     string // "read the branches of", "fetch from", "push to"
	Repo   string
	Mirror string // where the repository was reached, if not at its own URL
	Kind   error  // a sentinel of this package, a *RejectedError, a context error, or nil
	Text   string // the cause, in the words of the server or library
	Hint   string // what to do, where that is known
}

func (e *Error) Error() string {
	text := "cannot " + e.Op + " " + e.Repo
	if e.Mirror != "" {
		text += " at its mirror " + e.Mirror
	}
	if e.Kind != nil {
		text += ": " + e.Kind.Error()
	}
	if e.Text != "" && (e.Kind == nil || e.Text != e.Kind.Error()) {
		text += ": " + e.Text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Kind }

// RejectedError is a push that the server refused. It is an [ErrRejected].
type RejectedError struct {
	Branch string
	Reason string   // of the status report: "pre-receive hook declined"
	Output []string // what the server printed, line by line
}

func (e *RejectedError) Error() string {
	text := ErrRejected.Error() + ": " + e.Reason
	if len(e.Output) > 0 {
		text += "\n  remote: " + strings.Join(e.Output, "\n  remote: ")
	}
	return text
}

// Is makes a RejectedError an [ErrRejected].
func (e *RejectedError) Is(target error) bool { return target == ErrRejected }

// kindOf tells what an error of go-git, of the SSH library or of the git
// program means. Where those have bare texts alone, this is the one place that
// reads them; TestKindOf pins them. Nil: none of the kinds.
func kindOf(err error) error {
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) {
		err = unexpected.Err // it has no Unwrap
	}
	for _, kind := range []error{
		context.Canceled, context.DeadlineExceeded, ErrUnknownHost, ErrRedirected, ErrTooLarge, ErrTooManyRefs, ErrNoTempFile,
		ErrUnauthorized, ErrRepoNotFound, ErrObjectNotServed, ErrGitMissing, ErrCollision, ErrBranchLocked, ErrServerFull,
		ErrBranchMoved, ErrRejected, ErrRateLimited, ErrEmptyAnswer, ErrUnreachable,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return ErrUnauthorized
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return ErrRepoNotFound
	case errors.Is(err, exec.ErrNotFound):
		return ErrGitMissing
	}
	text := err.Error()
	for _, known := range []struct {
		kind  error
		texts []string
	}{
		{ErrServerFull, []string{ // first, as a full disk also shows as a file that may not be written
			"No space left on device",
			"Disk quota exceeded",
		}},
		{ErrBranchLocked, []string{
			".lock': File exists", // git: "Unable to create '…/refs/heads/main.lock': File exists."
			"LOCK_FAILURE",        // JGit
		}},
		{ErrUnauthorized, []string{
			"ssh: unable to authenticate",           // x/crypto/ssh: every method was refused
			"Permission denied",                     // a forced command, or the file system
			"Permission to ",                        // GitHub: "Permission to a/b.git denied to c"
			"detected dubious ownership",            // git: safe.directory
			"You are not allowed to push code",      // GitLab
			"deploy key does not have write access", // GitHub: "The key you are authenticating with has been marked as read only"
			"has been marked as read only",          // GitHub, Gitea
		}},
		{ErrRepoNotFound, []string{
			"does not appear to be a git repository",        // git
			"Repository not found",                          // GitHub
			"repository does not exist",                     // Bitbucket
			"The project you were looking for could not be", // GitLab
			"no such repository",                            // git daemon
			"Cannot find repository",                        // Gitea
		}},
		{ErrObjectNotServed, []string{
			"not our ref",                   // upload-pack: by its settings
			"expected valid object-id, got", // upload-pack: a malformed want
			"unadvertised object",           // JGit and others: "Server does not allow request for unadvertised object"
		}},
		{ErrBranchMoved, []string{
			"cannot lock ref",              // git: "is at … but expected …"
			"failed to update ref",         // receive-pack: the reference transaction failed
			"failed to lock",               // older git
			"incorrect old value provided", // git 2.4x, reftable
			"reference already exists",     // git: the branch was created meanwhile
			"non-fast-forward",             // receive.denyNonFastForwards, JGit
			"fetch first",                  // GitHub, Gitea
			"stale info",                   // Gerrit, JGit
		}},
	} {
		for _, t := range known.texts {
			if strings.Contains(text, t) {
				return known.kind
			}
		}
	}
	var netErr net.Error
	var opErr *net.OpError
	if errors.As(err, &netErr) || errors.As(err, &opErr) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return ErrUnreachable
	}
	return nil
}
