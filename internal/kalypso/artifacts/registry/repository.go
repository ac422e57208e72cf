package registry

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// Scheme is the start of a repository's URL.
const Scheme = "oci://"

// Repository is a repository of a registry.
type Repository struct{ ref registry.Reference }

// ParseRepository parses a URL such as oci://registry.acme.io/fleet/dev. The error never repeats a user or password.
func ParseRepository(url string) (Repository, error) {
	text, isOCI := strings.CutPrefix(url, Scheme)
	host, path, _ := strings.Cut(text, "/")
	switch {
	case strings.HasPrefix(strings.ToLower(url), "http://"):
		return Repository{}, errors.New(
			"a repository begins with oci://, which connects over https; plain http is allowed only for a registry on " +
				"this machine, such as oci://localhost:5000/fleet/dev")
	case !isOCI:
		return Repository{}, errors.New("a repository begins with oci://, such as oci://registry.acme.io/fleet/dev")
	case strings.Contains(host, "@"):
		return Repository{}, errors.New("the repository contains a user or password; move them to oci_credentials of the " +
			"provider, or to Docker's config file")
	case strings.ContainsAny(path, "@:"):
		return Repository{}, fmt.Errorf("%q has a tag or digest; remove it: the provider sets the tags", url)
	case strings.HasSuffix(path, "/") || path == "":
		return Repository{}, fmt.Errorf(
			"%q does not name a repository of a registry, such as oci://registry.acme.io/fleet/dev", url)
	}
	ref, err := registry.ParseReference(text)
	if err != nil {
		return Repository{}, fmt.Errorf("%q is not a repository of a registry, such as oci://registry.acme.io/fleet/dev: "+
			"a name has lower case letters, digits, and between them ., _ or -", url)
	}
	if _, err := giturl.Parse("https://" + ref.Host()); err != nil {
		return Repository{}, fmt.Errorf("%q has an invalid host or port", url)
	}
	return Repository{ref}, nil
}

// maxRepository is the longest name that registries accept, with the host.
const maxRepository = 255

// Join returns the repository with a name below this one.
func (r Repository) Join(name string) (Repository, error) {
	r.ref.Repository += "/" + name
	if r.ref.ValidateRepository() != nil || len(r.String()) > maxRepository {
		return Repository{}, fmt.Errorf("%q is not the name of a repository: it has lower case letters, digits, and between "+
			"them ., _ or -, and at most %d characters", r, maxRepository)
	}
	return r, nil
}

// String returns the name with its registry, without a scheme.
func (r Repository) String() string { return r.ref.Registry + "/" + r.ref.Repository }

// IsLoopback reports whether the registry is on this machine, so that it may use plain http.
func (r Repository) IsLoopback() bool { return r.address(giturl.SchemeHTTPS).IsLoopback() }

// address returns the URL at which the repository is contacted.
func (r Repository) address(scheme string) giturl.URL {
	at, err := giturl.Parse(scheme + "://" + r.ref.Host() + "/" + r.ref.Repository)
	if err != nil {
		panic(err) // ParseRepository has checked it
	}
	return at
}

// tag matches the tags that registries accept.
var tag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// treeHash matches the tags that name content.
var treeHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckTag returns an error if a text can't be a tag beside the hash of a tree.
func CheckTag(text string) error {
	if treeHash.MatchString(text) {
		return fmt.Errorf("%q looks like the hash of a tree, which each artifact has as a tag; choose a name", text)
	}
	return CheckAnyTag(text)
}

// CheckAnyTag returns an error if a text can't be a tag, which may be the hash of a tree.
func CheckAnyTag(text string) error {
	if !tag.MatchString(text) {
		return fmt.Errorf("%q is not a tag: a tag has only letters, digits, _, . and -, does not begin with . or -, and "+
			"has at most 128 characters", text)
	}
	return nil
}
