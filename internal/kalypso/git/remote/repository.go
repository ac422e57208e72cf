package remote

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// Repository is the interface to a Git repository; callers do not know the protocol. [Remote] implements the protocol
// itself. go-git 5 cannot: it dials SSH without a context, does not support protocol version 2, which serves objects
// by hash, copies a pack before it sends it, does not bound the data that a server sends, and takes two to three
// times as long to read it (BenchmarkUnpack). A later version of go-git may.
type Repository interface {
	// String returns the normalized URL.
	String() string
	// Key returns the same string for all URLs that are known to lead to the same repository.
	Key() string
	// Ref looks up one reference. It returns the zero hash if the repository has no such reference, and an error if the
	// repository cannot be read.
	Ref(ctx context.Context, name plumbing.ReferenceName) (plumbing.Hash, error)
	// Fetch fetches objects; see [Reader].
	Fetch(ctx context.Context, req FetchRequest, into Objects) error
	// Reader starts a session for reading. The caller must close it.
	Reader(ctx context.Context) (Reader, error)
	// Writer starts a session for a push. This takes at least one round trip, so call it while the pack is being
	// prepared. The caller must close it.
	Writer(ctx context.Context) (Writer, error)
}

// References maps the names of references to what they point to.
type References map[plumbing.ReferenceName]plumbing.Hash

// Reader is a session that reads a repository. It is bound to the context that opened it.
type Reader interface {
	// Ref looks up one reference, and returns the zero hash if it does not exist. An answer without any reference is
	// [ErrEmptyAnswer], unless the server confirms that the repository is empty.
	Ref(name plumbing.ReferenceName) (plumbing.Hash, error)
	// Refs lists the references whose names start with a prefix. It fails as Ref does.
	Refs(prefix plumbing.ReferenceName) (References, error)
	// CurrentRef looks up the current value of a reference. Ref may return the value from the start of the session.
	CurrentRef(name plumbing.ReferenceName) (plumbing.Hash, error)
	// Fetch fetches objects. If one commit is fetched first and then its history into the same objects, a server without
	// filters sends the commit's files only once. If the server does not serve a requested object by hash, the error is
	// [ErrObjectNotServed].
	Fetch(req FetchRequest, into Objects) error
	// Filters reports whether the server supports filters. Without filters, a fetch gets all files of its commits.
	Filters() bool
	// Close ends the session.
	Close()
}

// Writer is a session for one push. The server has already listed its references. It is bound to the context that
// opened it.
type Writer interface {
	// Push sends the pack and moves the branch. If the branch is not at the expected head, the error is
	// [ErrBranchMoved]; other rejections are [ErrRejected] with the server's output. A Writer pushes only once.
	//
	// If Sent returns true, the caller must read the branch, whatever Push returns: an answer can get lost, and a server
	// can report success by mistake.
	Push(req PushRequest) error
	// Sent reports whether the push was sent, so that the server may have accepted it.
	Sent() bool
	// Close ends the session.
	Close()
}
