package describe

import (
	"fmt"
	"strings"
)

// Owner reviews changes of the folders of a workspace, of cluster types, or of a workspace on cluster types.
type Owner struct {
	Workspace    string // "": each
	ClusterTypes []string
	Reviewers    []string
	Folders      []string // that change, as cluster type/deployment target
}

func (w *writer) owner(o Owner) string {
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
