package gitremote

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// Repository is all that callers ask of a Git server; none of them knows the protocol. A [Remote] speaks it by itself:
// the code behind Reader and Writer. go-git 5 can't take its place: it dials SSH without a context, can't ask for
// protocol 2, which hands out any object by its name, copies a pack before it sends it, bounds nothing that a server
// sends, and takes two to three times as long to read it (BenchmarkUnpack). A later version of go-git may.
type Repository interface {
	// String is the URL in its normal form.
	String() string
	// Key is the same for all URLs of one repository that can be told to be one.
	Key() string
	// Ref looks up one reference. A repository that has no such reference, or none at all, gives the zero hash; one that
	// can't be read gives an error.
	Ref(ctx context.Context, name plumbing.ReferenceName) (plumbing.Hash, error)
	// Fetch brings objects; see [Reader].
	Fetch(ctx context.Context, req FetchRequest, into Objects) error
	// Reader starts to read. Close it.
	Reader(ctx context.Context) (Reader, error)
	// Writer starts a push, which costs a round trip or more, while what is to be pushed is not ready yet. Close it.
	Writer(ctx context.Context) (Writer, error)
}

// Reader is one conversation in which a repository is read. It is bound to the context that opened it.
type Reader interface {
	// Ref looks up one reference; the zero hash where it is not there. That a repository without any reference says so is
	// told apart from an answer that is empty, which is [ErrEmptyAnswer].
	Ref(name plumbing.ReferenceName) (plumbing.Hash, error)
	// CurrentRef looks up a reference as it is now, where Ref may know it from the beginning of the conversation.
	CurrentRef(name plumbing.ReferenceName) (plumbing.Hash, error)
	// Fetch brings objects. [ErrObjectNotServed] where the server does not give a wanted one by its name.
	Fetch(req FetchRequest, into Objects) error
	// Close ends the conversation.
	Close()
}

// Writer is a conversation in which one push is to be made: the server has said what it holds. It is bound to the
// context that opened it.
type Writer interface {
	// Push sends the pack and moves the branch, if it still is where it should be: else [ErrBranchMoved]. A refusal of
	// another kind is an [ErrRejected] with the server's words. Nothing can be pushed after it.
	//
	// Once Sent, neither an error nor its absence tells where the branch is: an answer can get lost, and a server can say
	// what it does not do.
	Push(req PushRequest) error
	// Sent tells whether a push was sent, so that the server may have taken it.
	Sent() bool
	// Close ends the conversation.
	Close()
}
