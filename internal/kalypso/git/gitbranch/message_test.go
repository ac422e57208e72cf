package gitbranch_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

// TestTrailers compares the trailers of a commit with what git interpret-trailers reads.
func TestTrailers(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	b := open(t, "file://"+repo, "main")
	for i, test := range []struct {
		message  string
		trailers map[string]string
		own      string
		want     string
	}{
		{"Subject", nil, "", ""},
		{"Subject", nil, "Own: 1", "Own: 1"},
		{"Subject\n\nBody: no trailer, by the next line\nnor this one\n\n", map[string]string{
			"Signed-off-by": "A <a@acme.io>", "Ticket": " ACME-1 ", "a": "x:y",
		}, "Own: 1", "Signed-off-by: A <a@acme.io>\nTicket: ACME-1\na: x:y\nOwn: 1"},
		{"Subject\n\nTicket: 1", map[string]string{"Ticket": "2"}, "Own: 1", "Ticket: 1\nTicket: 2\nOwn: 1"},
		{"Subject\r\n\r\nTicket: 1\r\n\r\n", nil, "Own: 1", "Ticket: 1\nOwn: 1"},
	} {
		e := edit(test.message, folder("large", map[string]string{"a": strings.Repeat("x", i+1)}))
		e.Author.Trailers, e.Trailer = test.trailers, test.own
		mustPush(t, b, gitbranch.PushOptions{CreateBranch: true}, e)
		message := gitserver.Git(t, repo, "log", "-1", "--format=%B", "main")
		got := gitserver.Git(t, repo, "log", "-1", "--format=%(trailers:only,unfold)", "main")
		equal(t, message, strings.TrimSpace(got), test.want)
		if subject := gitserver.Git(t, repo, "log", "-1", "--format=%s", "main"); strings.TrimSpace(subject) != "Subject" {
			t.Errorf("the subject is %q", subject)
		}
	}
}

func TestCheckTrailer(t *testing.T) {
	const key = "the key of a trailer consists of letters, digits and hyphens, such as Signed-off-by"
	for line, want := range map[string]string{
		"Signed-off-by: A <a@acme.io>": "",
		"x: y":                         "",
		"Signed off: A":                key,
		"Ö: A":                         key,
		": A":                          key,
		"kalypso-rendering: A":         "keys that start with Kalypso- are reserved for the provider",
		"Ticket:  ":                    "the trailer has no value",
		"Ticket: a\nSigned-off-by: b":  "the value of a trailer is one line without control characters",
		"Ticket: \x1b[0m":              "the value of a trailer is one line without control characters",
	} {
		key, value, _ := strings.Cut(line, ": ")
		got := ""
		if err := gitbranch.CheckTrailer(key, value); err != nil {
			got = err.Error()
		}
		equal(t, line, got, want)
	}
	if err := gitbranch.CheckTrailerKeys(map[string]string{"A": "1", "b": "2"}); err != nil {
		t.Error(err)
	}
	err := gitbranch.CheckTrailerKeys(map[string]string{"ticket": "1", "Ticket": "2"})
	if want := `the keys "Ticket" and "ticket" are the same, since Git ignores case`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMergeTrailers(t *testing.T) {
	base, over := map[string]string{"Ticket": "1", "A": "2"}, map[string]string{"ticket": "3", "B": "4"}
	before := maps.Clone(over)
	equal(t, "both maps set", gitbranch.MergeTrailers(base, over), map[string]string{"A": "2", "ticket": "3", "B": "4"})
	equal(t, "the argument after the call", over, before)
	equal(t, "only the base", gitbranch.MergeTrailers(base, nil), base)
	equal(t, "no trailers", gitbranch.MergeTrailers(nil, nil), map[string]string(nil))
}

// TestSignedCommits: git verifies the signature of each commit, also if the push lost a race, and of commits on our
// own branches.
func TestSignedCommits(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]signingkey.Key{"ssh": signingkey.NewSSH(t), "openpgp": signingkey.NewOpenPGP(t)} {
		signer, err := signing.New(signing.Settings{PrivateKey: key.Private}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		signed := func(message, content string) *gitbranch.Edit {
			e := edit(message, folder("large", map[string]string{"a": content}))
			e.Author = gitbranch.Author{Name: "Kalypso", Email: signingkey.Email, When: time.Now(), Signer: signer}
			return e
		}
		for _, backend := range gitserver.Transports() {
			t.Run(name+" "+backend.Name, func(t *testing.T) {
				t.Parallel()
				repo := gitserver.InitBare(t)
				url, credentials := backend.Start(t, repo)
				main := open(t, url, "main", credentials...)
				var ours []string
				first := mustPush(t, main, gitbranch.PushOptions{CreateBranch: true}, signed("one", "1"))
				ours = append(ours, first.Commit.String())

				tries, theirs := 0, ""
				second, err := push(t.Context(), main, gitbranch.PushOptions{},
					func(*gitbranch.Attempt) *gitbranch.Edit {
						tries++
						if tries == 1 {
							theirs = gitserver.Seed(t, repo, "main", map[string]string{"theirs": "1\n"})
						}
						return signed("two\n\nWith a body.", "2")
					})
				if err != nil || tries != 2 {
					t.Fatalf("%d tries: %v", tries, err)
				}
				equal(t, "parent", strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "main^")), theirs)
				ours = append(ours, second.Commit.String())

				other := edit("again", folder("large", map[string]string{"a": "2"})) // without a signature
				if again := mustPush(t, main, gitbranch.PushOptions{}, other); again.Pushed {
					t.Error("an unchanged tree was committed again")
				}

				proposed, err := push(t.Context(), open(t, url, "ours/one", credentials...),
					gitbranch.PushOptions{Base: main},
					func(*gitbranch.Attempt) *gitbranch.Edit {
						e := signed("three", "3")
						e.Trailer = "Own: 1"
						return e
					})
				if err != nil {
					t.Fatal(err)
				}
				ours = append(ours, proposed.Commit.String())
				key.VerifyCommits(t, repo, ours...)
				gitserver.Fsck(t, repo)
			})
		}
	}
}
