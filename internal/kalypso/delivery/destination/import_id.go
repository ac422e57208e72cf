package destination

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

const importIDForm = "<environment>@<repo>//<path>?ref=<branch>"

// PreviewOfID separates the preview in an import ID. An import does not see the configuration. Without the preview in
// the ID, it would set all attributes, and if the configuration has preview = "none", the next plan would show them as
// removed.
const PreviewOfID = "&preview="

// ImportID returns the ID that imports the rendering of an environment at the destination:
// <environment>@<repo>//<path>?ref=<branch>, with &preview=<preview> unless preview is empty or unknown.
func (p Destination) ImportID(environment, preview string) string {
	id := fmt.Sprintf("%s@%s//%s?ref=%s", environment, p.Repo, p.Path, escapeBranch.Replace(p.Branch))
	if preview != "" && !unknown.Is(preview) {
		id += PreviewOfID + preview
	}
	return id
}

// escapeBranch writes the name of a branch in the query of an ID.
var escapeBranch = strings.NewReplacer("%", "%25", "&", "%26", ";", "%3B")

// ParseImportID parses what [Destination.ImportID] returns for no preview. The path may be missing; then it is the
// repo's root.
func ParseImportID(id string) (environment string, at Destination, err error) {
	environment, rest, ok := strings.Cut(id, "@")
	if !ok || environment == "" {
		return "", at, fmt.Errorf("%q does not have the form %s", id, importIDForm)
	}
	at, err = Parse(rest)
	if err != nil {
		err = fmt.Errorf("%q: %w; the form is %s", id, err, importIDForm)
	}
	return environment, at, err
}

var errNoRepo = errors.New("the URL names no repo")

// Parse parses <repo>//<path>?ref=<branch>. The path may be missing; then it is the repo's root. In the
// branch, %, & and ; are percent-encoded.
func Parse(text string) (at Destination, err error) {
	repo, query := text, ""
	if i := strings.LastIndexByte(text, '?'); i >= 0 { // no branch contains one, but a path may
		repo, query = text[:i], text[i+1:]
	}
	if repo == "" {
		return at, errNoRepo
	}
	values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B")) // in a branch name, a plus is not a space
	switch {
	case strings.HasPrefix(query, "ref=") && (err != nil || len(values) != 1 || len(values["ref"]) != 1):
		branch := strings.TrimPrefix(query, "ref=")
		return at, fmt.Errorf("in the branch, %% is written as %%25, & as %%26 and ; as %%3B: if the branch is %s, write "+
			"ref=%s", branch, escapeBranch.Replace(branch))
	case err != nil || values.Get("ref") == "" || len(values) != 1:
		return at, errors.New("it names no branch")
	}
	scheme := 0
	if i := strings.Index(repo, "://"); i >= 0 {
		scheme = i + len("://")
	}
	at = Destination{Repo: repo, Branch: values.Get("ref"), Path: "."}
	if i := strings.LastIndex(repo[scheme:], "//"); i >= 0 {
		if scheme+i == 0 {
			return Destination{}, errNoRepo
		}
		at.Repo = repo[:scheme+i]
		at.Path, err = CleanPath(repo[scheme+i+len("//"):])
	}
	if err == nil && errors.Is(checkRepo(at.Repo), errNoRepo) { // "host:/" and a path would be another URL
		return Destination{}, errNoRepo
	}
	return at, err
}
