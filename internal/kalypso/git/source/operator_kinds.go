package source

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	fleetyaml "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/yaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// The kinds that name repos. They are not part of a fleet.
const (
	KindBaseRepo   fleet.Kind = "BaseRepo"
	KindGitOpsRepo fleet.Kind = "GitOpsRepo"
)

// repoObject is an object of one of these kinds.
type repoObject struct {
	fleet.Meta
	kind                       fleet.Kind
	repo, branch, path, commit string
}

// Kind implements fleet.Object.
func (r *repoObject) Kind() fleet.Kind { return r.kind }

// Validate implements fleet.Object.
func (r *repoObject) Validate() (ps problem.Problems) {
	for _, field := range []struct{ name, value string }{{"repo", r.repo}, {"branch", r.branch}} {
		if field.value == "" && (field.name == "repo" || r.commit == "") {
			ps = append(ps, fleet.ProblemOf(r, problem.Problem{
				Summary: "Missing " + field.name, Detail: "spec." + field.name + " is empty or not set.",
			}))
		}
	}
	return ps
}

// operatorObject is an object of a kind that only the operator uses.
type operatorObject struct {
	fleet.Meta
	kind fleet.Kind
}

func (o *operatorObject) Kind() fleet.Kind           { return o.kind }
func (o *operatorObject) Validate() problem.Problems { return nil }

// controlPlaneKinds decode the kinds that a control plane may contain beside the objects of its fleet.
var controlPlaneKinds = func() map[fleet.Kind]fleetyaml.Decoder {
	all := map[fleet.Kind]fleetyaml.Decoder{}
	for _, kind := range fleetyaml.OperatorKinds {
		all[kind] = operatorDecoder(kind)
	}
	for _, kind := range []fleet.Kind{KindBaseRepo, KindGitOpsRepo} {
		all[kind] = repoDecoder(kind)
	}
	return all
}()

func repoDecoder(kind fleet.Kind) fleetyaml.Decoder {
	type spec struct {
		Repo   string `json:"repo"`
		Branch string `json:"branch"`
		Path   string `json:"path"`
		Commit string `json:"commit"`
	}
	return fleetyaml.DecoderOf(func(m fleet.Meta, s spec) fleet.Object {
		return &repoObject{m, kind, s.Repo, s.Branch, s.Path, s.Commit}
	})
}

func operatorDecoder(kind fleet.Kind) fleetyaml.Decoder {
	return func([]byte) (fleet.Object, []string, error) { return &operatorObject{kind: kind}, nil, nil }
}
