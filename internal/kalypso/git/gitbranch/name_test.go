package gitbranch_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// gitAccepts reports whether Git accepts the name of a branch.
func gitAccepts(t *testing.T, name string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "check-ref-format", "--branch", name)
	cmd.Dir = t.TempDir() // outside of a repo, @{-1} names no branch
	out, err := cmd.Output()
	return err == nil && strings.TrimSuffix(string(out), "\n") == name
}

// Each broken rule of git check-ref-format has its own reason, and real Git agrees that the name is invalid.
func TestCheckNameReasons(t *testing.T) {
	for name, want := range map[string]string{
		"dev.lock":     "no .lock at its end",
		"dev.lock/eu":  "no .lock at its end or before a slash",
		".dev":         "no dot at its start",
		"env/.dev":     "no dot at its start or after a slash",
		"dev.":         "no dot at its end",
		"a..b":         "no two dots",
		"a b":          "no spaces",
		"a\tb":         "no control characters",
		"a\x7f":        "no control characters",
		"dev~1":        "no ~",
		"dev^":         "no ^",
		"a:b":          "no :",
		"a?":           "no ?",
		"a*":           "no *",
		"a[b]":         "no [",
		`a\b`:          `no \`,
		"/dev":         "no slash at its start",
		"dev/":         "no slash at its start or end",
		"env//dev":     "no two slashes",
		"dev@{1}":      "no @{",
		"-dev":         "no hyphen at its start",
		"HEAD":         "names the checked-out commit",
		"":             "it is empty",
		".":            "no dot at its end",
		"a/b.lock/c":   "no .lock",
		"x/.lock":      "no dot at its start or after a slash",
		"@{-1}":        "no @{",
		"dev.lock.":    "no dot at its end",
		"feature/a.b.": "no dot at its end",
	} {
		err := gitbranch.CheckName(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if gitAccepts(t, name) {
			t.Errorf("Git accepts %q", name)
		}
	}
	for _, name := range []string{
		"dev", "a.b", "env/eu-west/dev", "a.LOCK", "a.lock2", "lock", "a/-b", "@", "a@b", "a{", "x/HEAD", "HEAD/x", "ümlaut",
		"日本", "a'b", `a"b`, "a$b", "a;b", "a,b", "a|b", "a<b>", "a#b", "a%b", "a&b", "a=b", "a!b", "a(b)", "a+b", "\u200bx",
	} {
		if err := gitbranch.CheckName(name); err != nil {
			t.Error(err)
		}
		if !gitAccepts(t, name) {
			t.Errorf("Git refuses %q", name)
		}
	}
	if gitbranch.CheckName("refs/heads/dev") == nil { // Git would make refs/heads/refs/heads/dev
		t.Error("the name of a reference is accepted")
	}
}

// Random names are valid exactly if real Git accepts them.
func TestCheckNameRandom(t *testing.T) {
	parts := []string{
		"a", "b", "/", ".", "-", "@", "{", "}", ".lock", "lock", "~", "^", ":", "?", "*", "[", "]", `\`, " ", "\t", "\x7f",
		"HEAD", "é", "\u0085", "..", "//", "@{", "refs",
	}
	valid, tried := 0, 0
	for seed := range seeds.Of(t, 200, 5000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var name strings.Builder
		for range 1 + random.IntN(5) {
			name.WriteString(parts[random.IntN(len(parts))])
		}
		if strings.HasPrefix(name.String(), "refs/") {
			continue
		}
		err := gitbranch.CheckName(name.String())
		if accepts := gitAccepts(t, name.String()); accepts != (err == nil) {
			t.Errorf("%q: Git accepts it: %t; %v", name.String(), accepts, err)
		}
		tried++
		if err == nil {
			valid++
		}
	}
	if !seeds.Single() && (valid < tried/10 || valid > tried*9/10) {
		t.Errorf("%d of %d names are valid", valid, tried)
	}
}
