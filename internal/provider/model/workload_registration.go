package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// WorkloadRegistrationModel is the kind WorkloadRegistration.
var WorkloadRegistrationModel = &model{
	Kind:   fleet.KindWorkloadRegistration,
	object: func() fleet.Object { return &fleet.WorkloadRegistration{} },
	name:   "workload_registration",
	description: "A workload registration names the location in Git of an application team's Workload documents, and " +
		"the workspace that owns them. Its manifest belongs to the control plane.",
	nameDescription:   "Name of the registration: a DNS-1123 subdomain.",
	labelsDescription: "Labels of the registration. They select nothing. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"workload": schemas.RequiredObject("Location of the Workload documents.", map[string]schema.Attribute{
			"repo":   schemas.RequiredString("URL of the Git repo."),
			"branch": schemas.RequiredString("Branch of the repo.", schemas.Valid("branch name", gitbranch.CheckName)),
			"path": schemas.OptionalString("Folder in the repo that contains the documents. The default is the root.",
				schemas.Valid("path", source.CheckPath)),
		}),
		"workspace": schemas.OptionalString(
			"Workspace of the team, for `deployment_target_selector.workspace` of scheduling policies. " +
				"It is a label value.",
		),
	},
	decode: func(o fleet.Object, d tfvalue.Decoder) {
		r := As[*fleet.WorkloadRegistration](o)
		workload, _ := d.Object("workload")
		r.Repo, r.Branch, r.Path = workload.String("repo"), workload.String("branch"), workload.String("path")
	},
	encode: func(o fleet.Object) tfvalue.Values {
		r := As[*fleet.WorkloadRegistration](o)
		return tfvalue.Values{"workload": tfvalue.Values{"repo": r.Repo, "branch": r.Branch, "path": r.Path}}
	},
}
