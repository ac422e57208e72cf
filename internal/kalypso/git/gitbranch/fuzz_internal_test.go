package gitbranch

import (
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// decodeCommit decodes the text of a commit.
func decodeCommit(text []byte) (Commit, error) {
	h := plumbing.ComputeHash(plumbing.CommitObject, text)
	o := newObjects(h, nil, gitremote.Objects{h: {Kind: plumbing.CommitObject, Content: text}})
	c, _, err := o.commit(h)
	return c, err
}

// FuzzDecodeCommit: what a commit of others says is a part of its text. Its subject is one line.
func FuzzDecodeCommit(f *testing.F) {
	const tree, who = "tree 0123456789abcdef0123456789abcdef01234567\n", "A <a@acme.io> 1700000000 +0000\n"
	for _, text := range []string{
		tree + "author " + who + "committer " + who + "\nSubject\n\nText\n", tree + "author " + who + "\n\n", "",
		tree + tree + "parent 1\nauthor x\ncommitter <> -1 +9999\n\n \t\n\nS\r\nT", "tree x\n\nS", tree + "parent\n author\n",
		tree + "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nSubject", "\n\n\n",
		tree + "encoding latin1\nauthor \xff <\xff> 99999999999999999999 +0000\ncommitter " + who + "\n\xff\x00\n",
		tree + strings.Repeat("parent 0123456789abcdef0123456789abcdef01234567\n", 100) + "\nSubject",
		tree + "mergetag object 0123456789abcdef0123456789abcdef01234567\n type commit\n tag x\n\nSubject",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decodeCommit(text)
		if err != nil {
			if !strings.Contains(err.Error(), plumbing.ComputeHash(plumbing.CommitObject, text).String()) {
				t.Errorf("the error does not name the commit: %v", err)
			}
			return
		}
		whole := string(text)
		for _, part := range []string{c.Message, c.Subject, c.Author.Name, c.Author.Email} {
			if !strings.Contains(whole, part) {
				t.Errorf("%q is read from %q", part, text)
			}
		}
		if strings.Contains(c.Subject, "\n") || strings.TrimSpace(c.Subject) != c.Subject {
			t.Errorf("the subject is %q", c.Subject)
		}
		if n := len(c.Parents); n > len(text)/len("parent \n") {
			t.Errorf("%q has %d parents", text, n)
		}
		for _, part := range append(c.Parents, c.Tree) {
			if !part.IsZero() && !strings.Contains(strings.ToLower(whole), part.String()) {
				t.Errorf("%q names no object %s", text, part)
			}
		}
	})
}

// FuzzCommitText: a commit that is written is read with the same author, message and trailers, and its headers are ours
// alone.
func FuzzCommitText(f *testing.F) {
	for _, text := range []string{
		"Subject", "Subject\n\nText\n\nTicket: 1\n", "S\r\n\r\nT", "\x00S", "tree x\nparent y\n\ncommitter z",
		"é\u2028\u202e", "S\n\n\xff",
		"\n\n gpgsig x", "S\n\nKalypso-Proof: 0\nKalypso-Rendering: 1",
	} {
		f.Add("Kalypso", "kalypso@acme.io", text, "APP-1", int64(1_700_000_000))
		f.Add(text, text, "Subject", text, int64(-1))
	}
	tree := plumbing.NewHash("0123456789abcdef0123456789abcdef01234567")
	f.Fuzz(func(t *testing.T, name, email, message, ticket string, seconds int64) {
		e := &Edit{Message: message, Trailer: "Kalypso-Proof: 1", Author: Author{
			Name: name, Email: email, When: time.Unix(seconds%(1<<40), 0).UTC(), Trailers: map[string]string{"Ticket": ticket},
		}}
		if CheckTrailer("Ticket", ticket) != nil {
			return
		}
		text, err := commitText(tree, tree, e)
		if err != nil {
			return
		}
		c, err := decodeCommit(text)
		if err != nil {
			t.Fatalf("%q can't be read: %v", text, err)
		}
		if c.Tree != tree || len(c.Parents) != 1 || c.Parents[0] != tree || c.Message != e.message()+"\n" ||
			c.Author.Name != strings.TrimSpace(name) || c.Author.Email != strings.TrimSpace(email) {
			t.Errorf("%q is read as %+v", text, c)
		}
		if !strings.HasSuffix(c.Message, "\nKalypso-Proof: 1\n") {
			t.Errorf("the message %q does not end with our trailer", c.Message)
		}
	})
}
