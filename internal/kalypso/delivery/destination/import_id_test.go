package destination_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestImportID: an import ID that is made for a destination is parsed to the same destination.
func TestImportID(t *testing.T) {
	for _, at := range []destination.Destination{
		{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."},
		{Repo: "git@acme.io:acme/gitops.git", Branch: "a+b/c", Path: "fleet/dev"},
		{Repo: "file:///srv/gitops", Branch: "dev", Path: "a"},
		{Repo: "https://acme.io/gitops", Branch: "a&b", Path: "."},
		{Repo: "https://acme.io/gitops", Branch: "100%", Path: "."},
		{Repo: "https://acme.io/gitops", Branch: "a%41;b&ref=c#d e"[:12], Path: "x?ref=y"},
		{Repo: "https://acme.io/gitops", Branch: "%2F+=@{}#"[:5], Path: "a%20b"},
	} {
		environment, got, err := destination.ParseImportID(at.ImportID("dev", unknown.Text))
		if err != nil || environment != "dev" || got != at {
			t.Errorf("%s: %s of %q, %v", at, got, environment, err)
		}
	}
	for id, said := range map[string]string{
		"https://acme.io/gitops?ref=dev": "does not have the form", "dev@?ref=dev": "no repo",
		"dev@host:/?ref=dev": "no repo", "dev@https://acme.io/?ref=dev": "no repo",
		"dev@https://acme.io/gitops": "no branch", "dev@https://acme.io/gitops?ref=": "no branch",
		"dev@https://acme.io/gitops?ref=a&b":     "if the branch is a&b, write ref=a%26b",
		"dev@https://acme.io/gitops?ref=100%":    "if the branch is 100%, write ref=100%25",
		"dev@https://acme.io/gitops?ref=a;b":     "if the branch is a;b, write ref=a%3Bb",
		"dev@https://acme.io/gitops?ref=a&ref=b": "write ref=a%26ref=b",
		"dev@https://acme.io/gitops?branch=a":    "no branch", "dev@https://acme.io/gitops//../x?ref=dev": "leaves the repo",
	} {
		if _, _, err := destination.ParseImportID(id); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: the error is %v, want %q", id, err, said)
		}
	}
}
