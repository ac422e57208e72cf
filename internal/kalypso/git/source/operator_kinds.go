package source

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// The kinds that name repos. They are not part of a fleet.
const (
	KindBaseRepo   fleet.Kind = "BaseRepo"
	KindGitOpsRepo fleet.Kind = "GitOpsRepo"
)

// operatorObject is an object of a kind that only the operator uses. Only a BaseRepo and a GitOpsRepo have a name and a
// spec.
type operatorObject struct {
	fleet.Meta
	kind fleet.Kind
	spec repoSpec
}

type repoSpec struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"`
	Path   string `json:"path"`
	Commit string `json:"commit"`
}

// Kind implements fleet.Object.
func (o *operatorObject) Kind() fleet.Kind { return o.kind }

// Validate implements fleet.Object. It checks the spec.
func (o *operatorObject) Validate() (ps problem.Problems) {
	for _, field := range []struct{ name, value string }{{"repo", o.spec.Repo}, {"branch", o.spec.Branch}} {
		if field.value == "" && (field.name == "repo" || o.spec.Commit == "") {
			ps = append(ps, fleet.ProblemOf(o, problem.Problem{
				Summary: "Missing " + field.name, Detail: "spec." + field.name + " is empty or not set.",
			}))
		}
	}
	return ps
}

// controlPlaneKinds decode the kinds that a control plane may contain beside the objects of its fleet.
var controlPlaneKinds = func() map[fleet.Kind]fleetyaml.Decoder {
	all := map[fleet.Kind]fleetyaml.Decoder{}
	for _, kind := range fleetyaml.OperatorKinds {
		all[kind] = func([]byte) (fleet.Object, []string, error) { return &operatorObject{kind: kind}, nil, nil }
	}
	for _, kind := range []fleet.Kind{KindBaseRepo, KindGitOpsRepo} {
		all[kind] = fleetyaml.DecoderOf(func(m fleet.Meta, s repoSpec) fleet.Object { return &operatorObject{m, kind, s} })
	}
	return all
}()
