package describe

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
)

func (w *writer) owner(o owners.Reached) string {
	var of []string
	if o.Workspace != "" {
		of = append(of, "workspace "+code(o.Workspace))
	}
	if len(o.ClusterTypes) > 0 {
		what := "cluster types "
		if len(o.ClusterTypes) == 1 {
			what = "cluster type "
		}
		of = append(of, what+w.list(o.ClusterTypes))
	}
	return fmt.Sprintf("%s (%s): %s", strings.Join(of, " on "), w.list(o.Reviewers), w.list(o.Folders))
}
