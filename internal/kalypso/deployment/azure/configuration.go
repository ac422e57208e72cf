package azure

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// configuration is a Flux configuration as Azure documents microsoft.kubernetesconfiguration/fluxconfigurations.
type configuration struct {
	ID         string `json:"id"`
	Properties struct {
		Suspend       bool `json:"suspend"`
		GitRepository struct {
			URL           string `json:"url"`
			RepositoryRef *struct {
				Branch string `json:"branch"`
				Tag    string `json:"tag"`
				Semver string `json:"semver"`
				Commit string `json:"commit"`
			} `json:"repositoryRef"`
		} `json:"gitRepository"`
		Kustomizations map[string]struct {
			Path string `json:"path"`
		} `json:"kustomizations"`
		Statuses             []status `json:"statuses"`
		SourceSyncedCommitID string   `json:"sourceSyncedCommitId"`
		StatusUpdatedAt      string   `json:"statusUpdatedAt"`
		ComplianceState      string   `json:"complianceState"`
		ProvisioningState    string   `json:"provisioningState"`
		ErrorMessage         string   `json:"errorMessage"`
	} `json:"properties"`
}

// status is the status of a Flux object that a configuration created, directly or through other objects.
type status struct {
	Name            string `json:"name"`
	Namespace       string `json:"namespace"`
	Kind            string `json:"kind"`
	ComplianceState string `json:"complianceState"`
	AppliedBy       *struct {
		Name string `json:"name"`
	} `json:"appliedBy"`
	Conditions []struct {
		Type               string `json:"type"`
		Message            string `json:"message"`
		LastTransitionTime string `json:"lastTransitionTime"`
	} `json:"statusConditions"`
}

func (c configuration) id() string { return c.ID }

// provider separates the cluster's ID from the rest of a configuration's ID.
const provider = "/providers/microsoft.kubernetesconfiguration/"

// cluster returns the ARM ID of the configuration's cluster and the configuration's own name.
func (c configuration) cluster() (id, name string) {
	at := strings.LastIndex(strings.ToLower(c.ID), provider)
	if at < 0 {
		return c.ID, ""
	}
	return c.ID[:at], c.ID[strings.LastIndex(c.ID, "/")+1:]
}

// follows reports whether the configuration follows the rendering's branch.
func (c configuration) follows(of deployment.Rendering) bool {
	ref := c.Properties.GitRepository.RepositoryRef
	return giturl.SameAcrossTransports(c.Properties.GitRepository.URL, of.Repo) &&
		ref != nil && ref.Branch == of.Branch &&
		ref.Tag == "" && ref.Semver == "" && ref.Commit == ""
}

// report adds the reports for each folder that the configuration's Kustomizations follow.
func (c configuration) report(of deployment.Rendering, to *deployment.Collector) error {
	if !c.follows(of) {
		return nil
	}
	cluster, name := c.cluster()
	owners := map[string]*status{}
	for i := len(c.Properties.Statuses) - 1; i >= 0; i-- { // of several with one name, the first counts
		if s := &c.Properties.Statuses[i]; s.isKustomization() {
			owners[strings.ToLower(s.Name)] = s
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Properties.Kustomizations)) {
		folder, inside := of.FolderOf(c.Properties.Kustomizations[key].Path)
		if !inside {
			continue
		}
		own := c.statusOf(name, key)
		r := deployment.Report{
			Cluster:  cluster,
			Folder:   folder,
			Object:   "Kustomization " + name + "-" + key,
			Revision: c.Properties.SourceSyncedCommitID,
			Time:     deployment.ParseTime(c.Properties.StatusUpdatedAt),
		}
		r.Health, r.Message = c.health()
		if own != nil {
			health, since, message := own.health()
			if health.WorseThan(r.Health) {
				r.Health, r.Message = health, message
			}
			if r.Health == deployment.Healthy {
				r.Since = since
			}
			if revision := own.readyMatch(appliedRevision); revision != "" {
				r.Revision = revision
			}
		}
		if err := to.Add(r); err != nil {
			return err
		}
		for _, s := range c.Properties.Statuses {
			if s.isBelow(own, owners) {
				nested := s.report(r)
				if of.Versions {
					nested.Revision = cmp.Or(s.readyMatch(appliedRevision), s.readyMatch(releasedChart))
				}
				if err := to.Add(nested); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// health returns the health of the configuration. It is Healthy if one of its objects reports that it is not compliant,
// because that object has its own report.
func (c configuration) health() (deployment.Health, string) {
	p := c.Properties
	if p.Suspend {
		return deployment.Suspended, ""
	}
	if strings.EqualFold(p.ProvisioningState, "Failed") {
		return deployment.Failed, p.ErrorMessage
	}
	health := healthOf(p.ComplianceState)
	if health != deployment.Healthy &&
		slices.ContainsFunc(p.Statuses, func(s status) bool { return healthOf(s.ComplianceState) != deployment.Healthy }) {
		return deployment.Healthy, ""
	}
	return health, p.ErrorMessage
}

// statusOf returns the status of the Kustomization of a key, or nil. Azure builds its name from the configuration and
// the key.
func (c configuration) statusOf(name, key string) *status {
	for i, s := range c.Properties.Statuses {
		if s.isKustomization() && (strings.EqualFold(s.Name, name+"-"+key) || strings.EqualFold(s.Name, key)) {
			return &c.Properties.Statuses[i]
		}
	}
	return nil
}

func (s status) isKustomization() bool { return strings.EqualFold(s.Kind, "Kustomization") }

// maxOwnerDepth limits how many Kustomizations lie between a configuration and an object.
const maxOwnerDepth = 16

// isBelow reports whether a status counts for the folder of a Kustomization. The objects that it applied count,
// directly or through others, and so do sources and objects without a known owner. Other Kustomizations of the
// configuration have their own folders. owners contains the Kustomizations by lower-case name.
func (s status) isBelow(own *status, owners map[string]*status) bool {
	for range maxOwnerDepth {
		switch {
		case own != nil && s.isKustomization() && strings.EqualFold(s.Name, own.Name):
			return false // the Kustomization itself
		case s.AppliedBy == nil || s.AppliedBy.Name == "":
			return !s.isKustomization()
		case own != nil && strings.EqualFold(s.AppliedBy.Name, own.Name):
			return true
		}
		owner, known := owners[strings.ToLower(s.AppliedBy.Name)]
		if !known {
			return true
		}
		s = *owner
	}
	return true
}

// report returns the report of an object in the folder of a Kustomization, given the Kustomization's report.
func (s status) report(of deployment.Report) deployment.Report {
	r := deployment.Report{
		Cluster: of.Cluster,
		Folder:  of.Folder,
		Object:  s.Kind + " " + s.Namespace + "/" + s.Name,
		Nested:  true,
		Time:    of.Time,
	}
	r.Health, r.Since, r.Message = s.health()
	return r
}

// health returns the health that a status reports.
func (s status) health() (health deployment.Health, since time.Time, message string) {
	health = healthOf(s.ComplianceState)
	for _, c := range s.Conditions {
		if c.Type == "Ready" {
			since, message = deployment.ParseTime(c.LastTransitionTime), c.Message
		}
	}
	if health == deployment.Healthy || health == deployment.Suspended {
		return health, since, ""
	}
	// Flux renews the time of a failure with each retry, so the deadline counts from the folder's commit.
	return health, time.Time{}, message
}

// appliedRevision matches kustomize-controller's message about the revision that it applied. Azure's revision of the
// source is the fetched one, which may be newer.
var appliedRevision = regexp.MustCompile(`^Applied revision: (\S+)`)

// releasedChart matches helm-controller's message about a release: "Helm upgrade succeeded for release apps/web.v2 with
// chart web@1.2.3".
var releasedChart = regexp.MustCompile(`^Helm \S+ succeeded for release \S+ with chart \S+@([^\s:]+)`)

// readyMatch returns what the group of a pattern matches in the message of the condition Ready, or "".
func (s status) readyMatch(pattern *regexp.Regexp) string {
	for _, c := range s.Conditions {
		if m := pattern.FindStringSubmatch(c.Message); c.Type == "Ready" && m != nil {
			return m[1]
		}
	}
	return ""
}

// healthOf converts a compliance state, as Azure documents it.
func healthOf(complianceState string) deployment.Health {
	switch strings.ToLower(complianceState) {
	case "compliant":
		return deployment.Healthy
	case "non-compliant":
		return deployment.Failed
	case "suspended":
		return deployment.Suspended
	}
	return deployment.Progressing // Pending, Unknown
}
