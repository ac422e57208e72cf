package gitbranch

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// parseTrailers returns the trailers that Git finds in the message of a commit, one a line.
func parseTrailers(t *testing.T, message string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "interpret-trailers", "--parse", "--no-divider")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(message+"\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// checkTrailers checks that Git finds the trailers of a message and the added ones, in one block at its end.
func checkTrailers(t *testing.T, text string, added ...string) {
	t.Helper()
	message := cleanMessage(text)
	if message == "" {
		return
	}
	got := addTrailers(message, added)
	if !strings.HasPrefix(got, message+"\n") || !strings.HasSuffix(got, "\n"+added[len(added)-1]) {
		t.Errorf("%q: the message is %q", text, got)
	}
	want := parseTrailers(t, message) + strings.Join(added, "\n") + "\n"
	if parsed := parseTrailers(t, got); parsed != want {
		t.Errorf("%q: Git finds %q in %q, want %q", text, parsed, got, want)
	}
}

func TestAddTrailers(t *testing.T) {
	for text, want := range map[string]string{
		"subject\n\nTicket: 1": "subject\n\nTicket: 1\nA: b\nOwn: 1",
		"subject":              "subject\n\nA: b\nOwn: 1",
		"Ticket: 1":            "Ticket: 1\n\nA: b\nOwn: 1", // a title
		"Ticket: 1\nA: c":      "Ticket: 1\nA: c\n\nA: b\nOwn: 1",
		"subject\n\nSee: the docs\nand more text":       "subject\n\nSee: the docs\nand more text\n\nA: b\nOwn: 1",
		"subject\n\nNote that this works: always":       "subject\n\nNote that this works: always\n\nA: b\nOwn: 1",
		"subject\r\n\r\nTicket: 1\r\n":                  "subject\n\nTicket: 1\nA: b\nOwn: 1",
		"subject\n\nTicket: 1\n\n \n":                   "subject\n\nTicket: 1\nA: b\nOwn: 1",
		"subject\n\nTicket: 1\n  continued":             "subject\n\nTicket: 1\n  continued\nA: b\nOwn: 1",
		"subject\n\nbody\n  Ticket: 1":                  "subject\n\nbody\n  Ticket: 1\n\nA: b\nOwn: 1",
		"subject\n\n(cherry picked from commit 1234)":   "subject\n\n(cherry picked from commit 1234)\nA: b\nOwn: 1",
		"subject\n\ntext\nSigned-off-by: A <a@acme.io>": "subject\n\ntext\nSigned-off-by: A <a@acme.io>\nA: b\nOwn: 1",
		"subject\n\n1\n2\n3\n4\nSigned-off-by: A":       "subject\n\n1\n2\n3\n4\nSigned-off-by: A\n\nA: b\nOwn: 1",
		"subject\n\nbody\n---\nTicket: 1":               "subject\n\nbody\n---\nTicket: 1\n\nA: b\nOwn: 1",
		"subject\n\n---\n\nTicket: 1":                   "subject\n\n---\n\nTicket: 1\nA: b\nOwn: 1",
		"subject\n\nTicket : 1":                         "subject\n\nTicket : 1\nA: b\nOwn: 1",
		"subject\n\nTicket:1":                           "subject\n\nTicket:1\nA: b\nOwn: 1",
		"subject\n\nTicket:":                            "subject\n\nTicket:\nA: b\nOwn: 1",
		"subject\n\nA: b":                               "subject\n\nA: b\nOwn: 1", // as Git, not twice
		"subject\n\nA: b\nB: c":                         "subject\n\nA: b\nB: c\nA: b\nOwn: 1",
		"subject\n\nhttps://acme.io/1":                  "subject\n\nhttps://acme.io/1\nA: b\nOwn: 1",
	} {
		added := []string{"A: b", "Own: 1"}
		if got := addTrailers(cleanMessage(text), added); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if text != "subject\n\nA: b" {
			checkTrailers(t, text, added...)
		}
	}
	if got := addTrailers("subject\n\nTicket: 1", nil); got != "subject\n\nTicket: 1" {
		t.Errorf("without trailers: %q", got)
	}
}

// Git finds all trailers of random messages, and the added ones.
func TestAddTrailersRandom(t *testing.T) {
	lines := []string{
		"subject", "Ticket: 1", "Fixes: #12", "Reviewed-by: B <b@acme.io>", "Signed-off-by: A <a@acme.io>",
		"(cherry picked from commit 0123456789)", "text", "some text: with a colon", "ftp://a.io", "  continued", "\tmore",
		"", "", "", " ", "---", "--- a/file", "Key : value", "Key:", ":", ": x", "-: y", "a b: c", "Ünit: 1", "- item", "x",
		"Ticket: 2\r", "\r", "…", "Ticket=3", "Ticket 4:",
	}
	for seed := range seeds.Of(t, 300, 5000) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := make([]string, 1+random.IntN(8))
		for i := range text {
			text[i] = lines[random.IntN(len(lines))]
		}
		checkTrailers(t, strings.Join(text, "\n"), "Acked-by: C <c@acme.io>", "Kalypso-Rendering: 1234")
	}
}
