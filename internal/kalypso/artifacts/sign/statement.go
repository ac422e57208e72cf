package sign

import (
	"maps"
	"slices"

	"github.com/opencontainers/go-digest"
)

// The identities in the provenance.
const (
	builder   = "https://registry.terraform.io/providers/terraform-kalypso/kalypso"
	buildType = builder + "/resources/oci_artifacts/v1"
)

// Origin is where an artifact comes from.
type Origin struct {
	Repository  string // of the registry
	Artifact    digest.Digest
	GitOps      Commit // with the folder
	Path        string // of the rendering, in that repo
	ClusterType string
	// Sources are the commits of the folders that the rendering was made of, by repo@branch:path.
	Sources map[string]string
	// PromotedCommit is the commit of the control plane that was promoted to the environment; "": none.
	PromotedCommit string
	Version        string // of the provider
}

// Commit is a commit of a branch.
type Commit struct{ Repo, Branch, Hash string }

// Statement is an in-toto statement with the provenance of an artifact, as SLSA 1.0 defines it. It contains no times:
// its commits have them.
type Statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

// resource describes an artifact, or what it was made of.
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	Definition struct {
		Type       string            `json:"buildType"`
		Parameters map[string]string `json:"externalParameters"`
		Resolved   []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Run struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// NewStatement returns the statement about an artifact.
func NewStatement(o Origin) Statement {
	s := Statement{Type: typeStatement, PredicateType: typeProvenance, Subject: []resource{
		{Name: o.Repository, Digest: map[string]string{o.Artifact.Algorithm().String(): o.Artifact.Encoded()}},
	}}
	p := &s.Predicate
	p.Definition.Type = buildType
	p.Definition.Parameters = map[string]string{"path": o.Path, "clusterType": o.ClusterType}
	if o.PromotedCommit != "" {
		p.Definition.Parameters["promotedCommit"] = o.PromotedCommit
	}
	p.Definition.Resolved = []resource{{
		Name: "gitops", URI: "git+" + o.GitOps.Repo + "@refs/heads/" + o.GitOps.Branch, Digest: gitCommit(o.GitOps.Hash),
	}}
	for _, location := range slices.Sorted(maps.Keys(o.Sources)) {
		p.Definition.Resolved = append(p.Definition.Resolved,
			resource{Name: "source", URI: "git+" + location, Digest: gitCommit(o.Sources[location])})
	}
	p.Run.Builder.ID = builder
	p.Run.Builder.Version = map[string]string{"terraform-provider-kalypso": o.Version}
	return s
}

func gitCommit(hash string) map[string]string { return map[string]string{"gitCommit": hash} }

func (s Statement) about(artifact digest.Digest) bool {
	return slices.ContainsFunc(s.Subject, func(r resource) bool {
		return r.Digest[artifact.Algorithm().String()] == artifact.Encoded()
	})
}
