package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
)

const (
	older = "5523a85f37d12c0c7c10ab6616644db089fcd6f7"
	newer = "42f2c201b96055faead8da72a126ec3e8fe30296"
)

// sample is the file of Kalypso's sample control plane.
const sample = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://github.com/microsoft/kalypso-control-plane
  branch: main
  path: .
  commit: 5523a85f37d12c0c7c10ab6616644db089fcd6f7
`

// asJSON is a BaseRepo in JSON. Tests replace COMMIT by the field commit, or remove it.
const asJSON = `{
  "apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": "BaseRepo", "metadata": {"name": "main"},
  "spec": {COMMIT"repo": "https://github.com/microsoft/kalypso-control-plane", "branch": "main"}
}
`

// TestSetCommit: SetCommit changes the commit, and no other byte of the file.
func TestSetCommit(t *testing.T) {
	head := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {name: main}\n"
	for name, tc := range map[string]struct{ text, want string }{
		"as Kalypso writes it": {sample, strings.Replace(sample, older, newer, 1)},
		"same commit":          {strings.Replace(sample, older, newer, 1), strings.Replace(sample, older, newer, 1)},
		"comments": {"# ours\n" + head + "spec:\n  commit: " + older + "   # promoted\n  # the base\n  repo: r\n",
			"# ours\n" + head + "spec:\n  commit: " + newer + "   # promoted\n  # the base\n  repo: r\n"},
		"single quotes": {head + "spec: {repo: r, commit: '" + older + "', branch: main}\n",
			head + "spec: {repo: r, commit: '" + newer + "', branch: main}\n"},
		"double quotes, no final newline": {head + "spec:\n    commit: \"" + older + "\"",
			head + "spec:\n    commit: \"" + newer + "\""},
		"JSON": {strings.Replace(asJSON, "COMMIT", `"commit": "`+older+`", `, 1),
			strings.Replace(asJSON, "COMMIT", `"commit": "`+newer+`", `, 1)},
		"JSON without a commit": {strings.Replace(asJSON, "COMMIT", "", 1),
			strings.Replace(asJSON, "COMMIT", `"commit": "`+newer+`", `, 1)},
		"characters of several bytes before the commit": {head + "spec: {repo: \"ü–ö\", commit: " + older + "}\n",
			head + "spec: {repo: \"ü–ö\", commit: " + newer + "}\n"},
		"tag instead of a commit": {head + "spec:\n  commit: v1\n", head + "spec:\n  commit: " + newer + "\n"},
		"null commit": {head + "spec:\n  commit:\n  repo: r\n",
			head + "spec:\n  commit: " + newer + "\n  repo: r\n"},
		"empty commit in quotes": {head + "spec:\n  commit: \"\"\n", head + "spec:\n  commit: \"" + newer + "\"\n"},
		"no commit": {head + "spec:\n  repo: r # here\n",
			head + "spec:\n  repo: r # here\n  commit: " + newer + "\n"},
		"no commit, no final newline": {head + "spec:\n  repo: r", head + "spec:\n  repo: r\n  commit: " + newer},
		"no commit in braces":         {head + "spec: {repo: r}\n", head + "spec: {commit: " + newer + ", repo: r}\n"},
		"CRLF": {strings.ReplaceAll(head+"spec:\n  repo: r\n", "\n", "\r\n"),
			strings.ReplaceAll(head+"spec:\n  repo: r\n  commit: "+newer+"\n", "\n", "\r\n")},
		"other documents in the file": {"---\nkind: Other\nspec: {commit: " + older + "}\n---\n" + sample + "---\na: b\n",
			"---\nkind: Other\nspec: {commit: " + older + "}\n---\n" + strings.Replace(sample, older, newer, 1) + "---\na: b\n"},
		"byte order mark": {"\ufeff" + sample, "\ufeff" + strings.Replace(sample, older, newer, 1)},
	} {
		got, err := document.SetCommit([]byte(tc.text), newer)
		if diff := cmp.Diff(tc.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestSetCommitOfDigits: YAML would read some hashes as numbers. SetCommit puts these in quotes.
func TestSetCommitOfDigits(t *testing.T) {
	exponent := "1" + strings.Repeat("0", 37) + "e1"
	for _, commit := range []string{strings.Repeat("1", 40), exponent, strings.Repeat("0", 40)} {
		text, err := document.SetCommit([]byte(sample), commit)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(sample, older, `"`+commit+`"`, 1); string(text) != want {
			t.Errorf("the file is\n%s", text)
		}
		quoted := strings.Replace(sample, older, `"`+older+`"`, 1) // the quotes are kept
		if back, err := document.SetCommit(text, older); err != nil || string(back) != quoted {
			t.Errorf("after the commit was set back: %v\n%s", err, back)
		}
	}
}

// TestSetCommitErrors: if a file is not a BaseRepo, or can't be changed in place, this is an error.
func TestSetCommitErrors(t *testing.T) {
	head := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nspec:\n"
	for text, want := range map[string]error{
		"":                        document.ErrNoBaseRepo,
		"a: b\n":                  document.ErrNoBaseRepo,
		"- a\n":                   document.ErrNoBaseRepo,
		sample + "---\n" + sample: document.ErrNoBaseRepo,
		strings.Replace(sample, "BaseRepo", "Environment", 1): document.ErrNoBaseRepo,
		head + "  commit: |\n    " + older + "\n":             document.ErrInPlace,
		head + "  repo: &c " + older + "\n  commit: *c\n":     document.ErrInPlace,
		head + "  commit: &c " + older + "\n  repo: *c\n":     document.ErrInPlace,
		strings.Split(sample, "spec:")[0] + "spec: {}\n":      document.ErrInPlace,
		strings.Split(sample, "spec:")[0]:                     document.ErrInPlace,
	} {
		if got, err := document.SetCommit([]byte(text), newer); !errors.Is(err, want) {
			t.Errorf("%s\ngives %v\n%s", text, err, got)
		}
	}
	for _, text := range []string{"{", "a: b: c\n", sample + strings.Repeat("# more\n", document.MaxSize/7)} {
		if _, err := document.SetCommit([]byte(text), newer); err == nil {
			t.Errorf("no error for %.40q", text)
		}
	}
}

// TestWrongTypes: a value of the wrong type is reported in the words of YAML.
func TestWrongTypes(t *testing.T) {
	head := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\n"
	for text, want := range map[string]string{
		"spec: [a]\n": "line 3: expected a map, got a list",
		"spec: a\n":   "line 3: expected a map, got a string",
		"spec: {repo: [a], branch: {b: c}}\n": "line 3: expected a string, got a list; line 3: expected a " +
			"string, got a map",
		"metadata: {name: [a]}\nspec:\n  repo: a\n": "line 3: expected a string, got a list",
		"metadata: 12\n": "line 3: expected a map, got a number",
	} {
		_, err := document.Parse([]byte(head + text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestNew: a new file is the same as Kalypso's workflows write it.
func TestNew(t *testing.T) {
	text, err := document.New(document.BaseRepo{
		Name: "main", Repo: "https://github.com/microsoft/kalypso-control-plane", Branch: "main", Path: ".", Commit: older,
	})
	if diff := cmp.Diff(sample, string(text)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
