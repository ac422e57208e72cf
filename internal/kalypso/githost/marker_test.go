package githost_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// FuzzIssueMarker: the marker of any names is one line that ends no comment, and the issue that contains it is found by
// it. A body in which a marker is found contains exactly the marker of what was found.
func FuzzIssueMarker(f *testing.F) {
	for _, name := range []string{"dev", "", "a-->b", "--", `"\`, "<!--", "\n", "é\u2028\x00", "\xff"} {
		body := "Text\n" + githost.IssueMarker(name, "0", name) + "\n"
		for _, text := range []string{
			body, strings.ReplaceAll(body, "\n", "\r\n"), "> " + body, body + body, strings.ToUpper(body), body[:len(body)/2],
			strings.Replace(body, `"path"`, `"path":"x","Path"`, 1), strings.Replace(body, "} -->", "} } -->", 1),
		} {
			f.Add(text, name, name, name)
		}
	}
	f.Fuzz(func(t *testing.T, body, environment, key, workload string) {
		found, ok := githost.FindIssueMarker(body)
		if ok && !githost.HasMarker(body, githost.IssueMarker(found.Environment, found.Key, found.Workload)) {
			t.Errorf("%q has the marker %+v, which it does not contain", body, found)
		}
		marker := githost.IssueMarker(environment, key, workload)
		inside := strings.TrimSuffix(strings.TrimPrefix(marker, "<!--"), "-->")
		if strings.ContainsAny(marker, "\r\n") || strings.Contains(inside, "--") || strings.Contains(inside, ">") ||
			!utf8.ValidString(marker) {
			t.Errorf("the marker %q is more than a comment", marker)
		}
		if !utf8.ValidString(environment) || !utf8.ValidString(key) || !utf8.ValidString(workload) {
			return // Terraform has no such names
		}
		want := githost.IssueID{Environment: environment, Key: key, Workload: workload}
		if found, ok := githost.FindIssueMarker(body + "\n" + marker); !ok || found != want {
			t.Errorf("%q is found as %+v, %v", marker, found, ok)
		}
	})
}
