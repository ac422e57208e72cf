package describe

import "strings"

// Owner reviews changes of the folders of a workspace, of cluster types, or of a workspace on cluster types.
type Owner struct {
	Workspace    string // "": each
	ClusterTypes []string
	Reviewers    []string
	Folders      []string // that change, as cluster type/deployment target
}

func (w *writer) owners() {
	if len(w.change.Owners) == 0 {
		return
	}
	w.heading("Owners of the changed folders")
	for _, o := range first(w.change.Owners, w.rows) {
		var of []string
		if o.Workspace != "" {
			of = append(of, "workspace "+code(o.Workspace))
		}
		if len(o.ClusterTypes) > 0 {
			of = append(of, plural(len(o.ClusterTypes), "cluster type")+" "+w.list(o.ClusterTypes))
		}
		w.line("- %s (%s): %s", strings.Join(of, " on "), w.list(o.Reviewers), w.list(o.Folders))
	}
	w.more(len(w.change.Owners), "owner")
}
