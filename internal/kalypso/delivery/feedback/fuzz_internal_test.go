package feedback

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// FuzzWithoutFault: an issue that is closed keeps its text and the markers of issues, and no longer has the line of any
// failure, so that the same failure opens it again.
func FuzzWithoutFault(f *testing.F) {
	marker := githost.IssueMarker("dev", "0", "shop")
	for _, body := range []string{
		"", "Text\n\n" + marker + "\n" + describe.FaultMarker("f1"), describe.FaultMarker("f1") + "\r\n" + marker,
		"> " + describe.FaultMarker("f1"), describe.FaultMarker("f1") + " \t", "<!-- kalypso-fault: -->", "\xff\n\r",
		describe.FaultMarker("f2") + "\nx\n" + describe.FaultMarker("f1"), describe.FaultMarker(""),
	} {
		f.Add(body, "f1")
	}
	f.Fuzz(func(t *testing.T, body, fault string) {
		now := withoutFault(body)
		if !strings.ContainsAny(fault, "\r\n") && fault == strings.TrimSpace(fault) &&
			githost.HasMarker(now, describe.FaultMarker(fault)) {
			t.Errorf("%q still has the failure %q: %q", body, fault, now)
		}
		if again := withoutFault(now); again != now {
			t.Errorf("%q loses more the second time: %q", now, again)
		}
		before, ok := githost.FindIssueMarker(body)
		if after, still := githost.FindIssueMarker(now); before != after || ok != still {
			t.Errorf("%q has the marker %+v, and %+v without the failure", body, before, after)
		}
		rest := strings.Split(body, "\n") // the lines that stay, in their order
		for line := range strings.SplitSeq(now, "\n") {
			for len(rest) > 0 && rest[0] != line {
				if !strings.HasPrefix(rest[0], "<!-- kalypso-fault: ") {
					t.Errorf("%q loses the line %q", body, rest[0])
				}
				rest = rest[1:]
			}
			if len(rest) == 0 && now != "" {
				t.Errorf("%q gains the line %q", body, line)
				return
			}
			rest = rest[min(1, len(rest)):]
		}
	})
}
