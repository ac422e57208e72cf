package promotion

import (
	"fmt"
	"slices"
)

// Signatures judges the signatures of the control plane's commits.
type Signatures struct {
	// Signer returns the signer of a commit, or the reason why its signature does not count.
	Signer func(commit string) (string, error)
	// History says that each commit after the current one needs a signature, and not only the promoted commit.
	History bool
}

// judgeSignature judges the signature of a commit.
func (g *gates) judgeSignature(commit string) verdict {
	if reason := g.unverified(commit); reason != "" {
		return closed(gateSignature, "", "%s", reason)
	}
	signer, _ := g.world.Signatures.Signer(commit)
	return open("signed by " + signer)
}

// unverified returns the reason why the signature of a commit does not count; "": it counts, or signatures are not
// verified. With History, commits between the current one and this one need signatures too, unless people approved
// them.
func (g *gates) unverified(commit string) string {
	w := g.world
	if w.Signatures == nil {
		return ""
	}
	commits := []string{commit}
	if at, after := w.History.index(commit), w.candidates(); w.Signatures.History && w.Current.Commit != "" && at >= 0 &&
		at < len(after) {
		commits = after[at:]
	}
	i := slices.IndexFunc(commits, func(c string) bool {
		_, err := w.Signatures.Signer(c)
		return err != nil && (c == commit || !w.approves(c))
	})
	if i < 0 {
		return ""
	}
	_, err := w.Signatures.Signer(commits[i])
	if i > 0 {
		return fmt.Sprintf("the earlier commit %s does not count: %s", short(commits[i]), err)
	}
	return err.Error()
}

// lifted returns the end of an override's text: the reason why the signature of its commit does not count.
func (g *gates) lifted(commit string) string {
	if reason := g.unverified(commit); reason != "" {
		return ", although " + reason
	}
	return ""
}
