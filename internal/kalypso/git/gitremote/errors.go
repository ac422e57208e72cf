package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// The kinds of errors with a repository. Tell them apart with [errors.Is].
var (
	// ErrRepoNotFound: the server reports no such repository, possibly because the credential may not see it.
	ErrRepoNotFound = errors.New("repository not found")
	// ErrUnauthorized: the credential is missing, wrong, or lacks permission.
	ErrUnauthorized = errors.New("not authorized")
	// ErrRedirected: the server redirects the request to a disallowed address, such as a push to another server.
	ErrRedirected = errors.New("redirect refused")
	// ErrUnknownHost: the SSH server's host key is unknown or has changed.
	ErrUnknownHost = errors.New("unknown SSH host")
	// ErrUnreachable: the server did not answer, or the connection broke.
	ErrUnreachable = errors.New("repository cannot be reached")
	// ErrRateLimited: the server currently accepts no more requests (HTTP 429).
	ErrRateLimited = errors.New("the server limits requests")
	// ErrEmptyAnswer: the server lists no reference at all, and does not confirm that the requested one is absent.
	ErrEmptyAnswer = errors.New("the server returned an empty answer")
	// ErrRejected: the server rejected the push, for example by branch protection or a hook. [RejectedError] has its
	// output.
	ErrRejected = errors.New("push rejected")
	// ErrProtected: the branch accepts changes only by pull request. It is an [ErrRejected].
	ErrProtected = fmt.Errorf("%w: the branch is protected", ErrRejected)
	// ErrRequestTooLarge: the server, or a proxy before it, accepts no request of this size (HTTP 413).
	ErrRequestTooLarge = errors.New("the server accepts no request of this size")
	// ErrForeignOwner: Git does not open the repository, because it belongs to another user.
	ErrForeignOwner = errors.New("the repository belongs to another user")
	// ErrBranchMoved: another push moved the branch; retrying may succeed.
	ErrBranchMoved = errors.New("branch moved")
	// ErrBranchLocked: the server has a lock file of the branch. Another push is running, or one was interrupted.
	ErrBranchLocked = errors.New("the branch is locked on the server")
	// ErrServerFull: the server has no disk space left for the push, or the repository has used up its quota.
	ErrServerFull = errors.New("the server has no space left")
	// ErrMaintenance: the server accepts no push at the moment.
	ErrMaintenance = errors.New("the server is in maintenance")
	// ErrObjectNotServed: the server does not serve the requested object by hash.
	ErrObjectNotServed = errors.New("object not served by hash")
	// ErrTooLarge: the answer exceeds the bound of a fetch: 1 GiB, or [ReadLimits].Fetch.
	ErrTooLarge = errors.New("repository too large to read")
	// ErrTooManyRefs: the list of references exceeds 64 MiB.
	ErrTooManyRefs = errors.New("the server lists too many references")
	// ErrNoTempFile: no temporary file can be written on this machine.
	ErrNoTempFile = errors.New("cannot write a temporary file on this machine")
	// ErrCollision: an object of the repository is part of a SHA-1 collision attack.
	ErrCollision = errors.New("an object of the repository is part of a SHA-1 collision attack")
	// ErrGitMissing: a local repository needs the git program, which is not on the PATH.
	ErrGitMissing = errors.New("git is not installed")
)

// kinds lists the kinds of errors: each with a few words for the summary of a diagnostic, and with advice that fits any
// repository. Either may be missing.
var kinds = []struct {
	err             error
	summary, advice string
}{
	{ErrEmptyAnswer, "Empty answer from the server", // must come before the kinds that cause it
		"check the server and its proxies; if the repo is empty, push a first commit"},
	{ErrTooLarge, "Too much to read", ""},
	{ErrTooManyRefs, "Too many references", "enable version 2 of Git's protocol on the server (over SSH: AcceptEnv " +
		"GIT_PROTOCOL), or hide references (transfer.hideRefs)"},
	{ErrRepoNotFound, "Repo not found", ""},
	{ErrUnauthorized, "Credentials refused", ""},
	{ErrRedirected, "Redirect refused", ""},
	{ErrUnknownHost, "Unknown SSH host", ""},
	{ErrRateLimited, "The server limits requests", "try again later, or raise timeouts"},
	{ErrBranchLocked, "The branch is locked on the server",
		"if no other push is running, remove the lock file that the server names"},
	{ErrServerFull, "No space left on the server", "free space on the server, or raise the quota of the repo"},
	{ErrMaintenance, "Server in maintenance", "try again after the maintenance"},
	{ErrCollision, "SHA-1 collision in the repo", "ask the owner of the repo to remove the object from its history"},
	{ErrNoTempFile, "No temporary file", "free disk space for temporary files, or set TMPDIR to another folder"},
	{ErrGitMissing, "Git is not installed", "install git, or use an https or ssh URL"},
	{ErrObjectNotServed, "", ""},
	{ErrBranchMoved, "", ""},
	{ErrProtected, "", "the branch takes changes by pull request only: set delivery.strategy = \"pull_request\""},
	{ErrRequestTooLarge, "Request too large for the server", "raise the limit for the body of requests on the server " +
		"or on its proxy, such as client_max_body_size of nginx, or use the repo's SSH URL"},
	{ErrForeignOwner, "Repo of another user", "make the user who runs Git there its owner, or let that user trust it: " +
		"git config --global --add safe.directory with the path of the repo"},
	{ErrRejected, "", ""},
	{ErrUnreachable, "Repo can't be reached", ""},
	{context.DeadlineExceeded, "Timeout exceeded", ""},
}

// Summary returns a few words for the kind of an error, for the summary of a diagnostic. It is empty for a rejected
// push, which comes with the server's output, and for errors of other packages.
func Summary(err error) string {
	for _, known := range kinds {
		if known.summary != "" && errors.Is(err, known.err) {
			return known.summary
		}
	}
	return ""
}

// Error is a failed operation on a repository. It unwraps to a sentinel of this package or to the context's error,
// never to a library's error. Its text contains no secret.
type Error struct {
	Op     string // "read the branches of", "fetch from", "push to"
	Repo   string
	Mirror string // URL of the mirror, if the repository was accessed there
	Kind   error  // a sentinel of this package, a *RejectedError, a context error, or nil
	Text   string // the cause, as the server or library reports it
	Hint   string // what to do; empty if unknown
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

// RejectedError is a push that the server rejected. It is an [ErrRejected].
type RejectedError struct {
	Reason string   // from the status report, such as "pre-receive hook declined"
	Output []string // lines that the server printed
}

func (e *RejectedError) Error() string {
	text := ErrRejected.Error() + ": " + e.Reason
	if len(e.Output) > 0 {
		text += "\n  remote: " + strings.Join(e.Output, "\n  remote: ")
	}
	return text
}

// Is reports that a RejectedError is an [ErrRejected], and whether it is an [ErrProtected].
func (e *RejectedError) Is(target error) bool {
	return target == ErrRejected || target == ErrProtected && errors.Is(knownKind(e.Error()), ErrProtected)
}

// errUnsigned: the branch accepts only commits with a signature that the server can verify.
var errUnsigned = fmt.Errorf("%w: the commit is not signed", ErrRejected)

// advices say what to do about a rejected push, in one or more sentences.
var advices = map[error]string{
	errUnsigned: "The branch accepts only commits with a signature that the server can verify. Set commit_signing of " +
		"the provider, add the public key to the account that pushes, and set commit_author.email of the provider to an " +
		"address of that account.",
	ErrProtected: "The branch takes changes by pull request only. Set delivery.strategy = \"pull_request\", or allow " +
		"the account of the credential to push.",
	ErrUnauthorized: "Give the account of the credential the right to push to the branch.",
	ErrServerFull:   "Free space in the repo, or raise its quota.",
	ErrMaintenance:  "Apply again after the maintenance of the server.",
}

// Advice says what to do. It is one or more sentences.
func (e *RejectedError) Advice() string {
	if known, ok := advices[knownKind(e.Error())]; ok {
		return known
	}
	return "Check the branch's protection rules and the repo's hooks."
}

// knownTexts are the texts by which errors of programs and servers are told apart, by kind. The first kind that matches
// counts. No other code matches such texts; TestKindOf and TestRefusals pin them.
var knownTexts = []struct {
	kind  error
	texts []string
}{
	{ErrServerFull, []string{ // first: a full disk also causes permission errors
		"No space left on device",
		"Disk quota exceeded",
		"Quota exceeded",                      // Forgejo
		"Repository is over the size limit",   // Bitbucket Cloud
		"repository is in read only mode (ov", // Bitbucket Cloud, formerly: "… (over 2 GB size limit)"
		"repository has exceeded its size li", // GitLab: "… limit of 10 GiB by 1 GiB"
		"pack exceeds maximum allowed size",   // git: receive.maxInputSize, such as of Bitbucket Cloud
	}},
	{ErrBranchLocked, []string{
		".lock': File exists", // git: "Unable to create '….lock': File exists."
		"LOCK_FAILURE",        // JGit
	}},
	{errUnsigned, []string{
		"Commits must have verified signatures", // GitHub: rulesets (GH013), branch protection (GH006)
		"Commit must be signed",                 // GitLab: push rules; until 16 "… with a GPG key"
		"is protected from unverified commit",   // Gitea, Forgejo: a protected branch
	}},
	{ErrProtected, []string{ // must come before missing rights, whose texts are similar
		"TF402455", // Azure Repos: "Pushes to this branch are not permitted; you must use a pull request …"
		"Changes must be made through a pull request",  // GitHub: rulesets (GH013), branch protection (GH006)
		"not allowed to push code to protected branch", // GitLab
		"Not allowed to push to protected branch",      // Gitea, Forgejo
		"can only be modified through pull requests",   // Bitbucket Data Center
		"Permission denied to update branch",           // Bitbucket Cloud
	}},
	{ErrMaintenance, []string{
		"(read-only) maintenance mode", // GitLab
		"under maintenance",            // Gerrit's plugin readonly: "Gerrit is under maintenance - all data is READ ONLY"
	}},
	{ErrRateLimited, []string{
		"TF400733", // Azure Repos: "The request has been canceled: …"
	}},
	{ErrForeignOwner, []string{
		"detected dubious ownership", // git: safe.directory; until 2.38 "unsafe repository"
		"fatal: unsafe repository",
	}},
	{ErrUnauthorized, []string{
		"ssh: unable to authenticate",           // x/crypto/ssh: all methods failed
		"Permission denied",                     // a forced command, or the file system
		"Permission to ",                        // GitHub: "Permission to a/b.git denied to c"
		"You are not allowed to push code",      // GitLab
		"deploy key does not have write access", // GitHub
		"has been marked as read only",          // GitHub, Gitea
		"TF401027",                              // Azure Repos: "You need the Git 'GenericContribute' permission …"
		"TF400813",                              // Azure Repos: "The user '…' is not authorized to access this resource."
		"User permission denied for writing",    // Gitea, Forgejo
		"is not authorized to write to",         // Gitea, Forgejo: over SSH
		"lack one or more required privilege",   // Bitbucket Cloud: "Your credentials … scopes."
		"prohibited by Gerrit",                  // Gerrit: without the right Push, and in a read-only project
	}},
	{ErrRepoNotFound, []string{
		"does not appear to be a git repository",        // git
		"Repository not found",                          // GitHub
		"repository does not exist",                     // Bitbucket
		"The project you were looking for could not be", // GitLab
		"no such repository",                            // git daemon
		"Cannot find repository",                        // Gitea
		"TF401019",                                      // Azure Repos: no such repository, or it is not visible
		"TF200016",                                      // Azure Repos: no such project
		"VS800075",                                      // Azure Repos: no such project, or it is not visible
	}},
	{ErrObjectNotServed, []string{
		"not our ref",                   // upload-pack: by its settings
		"expected valid object-id, got", // upload-pack: a malformed want
		"unadvertised object",           // JGit and others: "Server does not allow request for unadvertised object"
		"TF401035",                      // Azure Repos: "The object '…' does not exist."
	}},
	{ErrBranchMoved, []string{
		"cannot lock ref",              // git: "is at … but expected …"
		"failed to update ref",         // receive-pack: the reference transaction failed
		"failed to lock",               // older git, Gerrit
		"incorrect old value provided", // git 2.4x, reftable
		"reference already exists",     // git: the branch was created meanwhile
		"non-fast-forward",             // receive.denyNonFastForwards, JGit
		"fetch first",                  // GitHub, Gitea
		"stale info",                   // Gerrit, JGit
		"has already been updated by",  // Azure Repos: TF401028 "… another client, so you cannot update it."
	}},
}

// knownKind returns the kind of a text, or nil.
func knownKind(text string) error {
	for _, known := range knownTexts {
		for _, t := range known.texts {
			if strings.Contains(text, t) {
				return known.kind
			}
		}
	}
	return nil
}

// kindOf classifies an error of a server, the SSH library or the git program. It returns nil for other errors.
func kindOf(err error) error {
	for _, kind := range []error{context.Canceled, context.DeadlineExceeded} { // first: they cause other errors
		if errors.Is(err, kind) {
			return kind
		}
	}
	for _, known := range kinds {
		if errors.Is(err, known.err) {
			return known.err
		}
	}
	if kind := knownKind(err.Error()); kind != nil {
		return kind
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return ErrUnreachable
	}
	return nil
}
