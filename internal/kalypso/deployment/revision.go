package deployment

import (
	"encoding/hex"
	"strings"
)

// Revision is a synced revision, as a source reports it.
type Revision struct {
	Branch string // "": none
	Hash   string // full, in lower case; "": none
}

// fullHash is the length of a hash.
const fullHash = 40

// ParseRevision parses the forms in which Flux, Argo CD and Azure write a revision: branch@sha1:hash, branch/hash,
// sha1:hash or a hash. The branch may be a full reference. From any other text it reads at most the branch.
func ParseRevision(text string) Revision {
	text = strings.TrimSpace(text)
	var r Revision
	switch i, j := strings.LastIndex(text, "@"), strings.LastIndex(text, "/"); {
	case i >= 0:
		r.Branch, r.Hash = text[:i], text[i+1:]
	case j >= 0:
		r.Branch, r.Hash = text[:j], text[j+1:]
	default:
		r.Hash = text
	}
	r.Branch, r.Hash = strings.TrimPrefix(r.Branch, "refs/heads/"), strings.TrimPrefix(r.Hash, "sha1:")
	if _, err := hex.DecodeString(r.Hash); err != nil || len(r.Hash) != fullHash {
		return Revision{Branch: r.Branch}
	}
	r.Hash = strings.ToLower(r.Hash)
	return r
}
