package render

import (
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Digest is of all that the files of the schedule's placement i, and what fails of them, depend on. What has no part in
// them, such as where an object came from, has none in it. It is zero where that is not all known yet.
func (r *Renderer) Digest(i int) digest.Digest {
	p := r.schedule.Placements[i]
	inputs := digest.New("folder")
	inputs.Text(r.environment)
	inputs.Text(strconv.FormatInt(r.fileSize, 10))
	inputs.Text(p.ClusterType.Name)
	for _, t := range r.templates[p.ClusterType] {
		if t == nil {
			return digest.Digest{} // reported by the fleet's validation
		}
		inputs.Digest(t.digest)
	}
	for n := range p.Assignments {
		inputs.Digest(r.targets[p.Assignments[n].Target].digest)
		inputs.Digest(r.config.Of(i, n).Digest)
	}
	return inputs.Sum()
}

func digestOfTemplate(t *fleet.Template) digest.Digest {
	inputs := digest.New("template")
	inputs.Text(t.ContentType)
	inputs.Texts(t.Manifests)
	return inputs.Sum()
}

func digestOfTarget(t *fleet.DeploymentTarget) digest.Digest {
	inputs := digest.New("target")
	inputs.Text(t.Name)
	inputs.Text(t.Workload.Name)
	inputs.Text(t.Workspace)
	inputs.Map(t.Labels)
	inputs.Map(t.Manifests)
	inputs.Texts(t.ConfigSchemas)
	return inputs.Sum()
}
