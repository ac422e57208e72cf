package record

import (
	"errors"
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
	if !ok || environment == "" {
		return "", at, fmt.Errorf("%q does not have the form %s", id, importIDForm)
	}
	at, err = ParseDestination(rest)
	if err != nil {
		err = fmt.Errorf("%q: %w; the form is %s", id, err, importIDForm)
	}
	return environment, at, err
}

// ParseDestination parses <repo>//<path>?ref=<branch>. The path may be missing; then it is the repo's root.
func ParseDestination(text string) (at Destination, err error) {
	repo, query, _ := strings.Cut(text, "?")
	if repo == "" {
		return at, errors.New("it names no repo")
	}
	values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B")) // in a branch name, a plus is not a space
	if err != nil || values.Get("ref") == "" || len(values) != 1 {
		return at, errors.New("it names no branch")
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
	return at, err
}
