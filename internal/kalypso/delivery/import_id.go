package delivery

import (
	"fmt"
	"net/url"
	"strings"
)

const importIDForm = "<environment>@<repo>//<path>?ref=<branch>"

// ImportID returns the ID that imports the rendering of an environment at the destination:
// <environment>@<repo>//<path>?ref=<branch>.
func (p Destination) ImportID(environment string) string {
	return fmt.Sprintf("%s@%s//%s?ref=%s", environment, p.Repo, p.Path, p.Branch)
}

// ParseImportID parses what [Destination.ImportID] returns. The path may be missing; then it is the repo's root.
func ParseImportID(id string) (environment string, at Destination, err error) {
	environment, rest, ok := strings.Cut(id, "@")
	repo, query, hasQuery := strings.Cut(rest, "?")
	if !ok || environment == "" || repo == "" || !hasQuery {
		return "", at, fmt.Errorf("%q does not have the form %s", id, importIDForm)
	}
	values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B")) // in a branch name, a plus is not a space
	if err != nil || values.Get("ref") == "" || len(values) != 1 {
		return "", at, fmt.Errorf("%q names no branch; the form is %s", id, importIDForm)
	}
	scheme := 0
	if i := strings.Index(repo, "://"); i >= 0 {
		scheme = i + len("://")
	}
	at = Destination{Repo: repo, Branch: values.Get("ref"), Path: "."}
	if i := strings.LastIndex(repo[scheme:], "//"); i >= 0 {
		at.Repo = repo[:scheme+i]
		at.Path, err = CleanPath(repo[scheme+i+len("//"):])
	}
	return environment, at, err
}
