package provider

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

var templateModel = &model{
	kind:      fleet.KindTemplate,
	name:      "template",
	attribute: "templates",
	description: "A template: how one part of an assignment, a deployment target on a cluster type, is rendered. Cluster types name the " +
		"templates they use.\n\n" +
		"The manifests are Go templates with the functions of Sprig that touch neither clock nor network, and with `toYaml`, `stringify`, " +
		"`hash` and `unquote`. The data are `.DeploymentTargetName`, `.Namespace`, `.Environment`, `.Workspace`, `.Workload`, " +
		"`.ClusterType`, `.ClusterTypeLabels`, `.Labels` (of the deployment target), `.Manifests` (where the team's manifests lie: `.Manifests.repo`, " +
		"`.Manifests.branch`, `.Manifests.path`) and `.ConfigData` (the platform configuration). To print a value that is missing is an " +
		"error. They are parsed at plan; the function `provider::kalypso::render_template` tries one out.",
	nameDescription:   "Name of the template, which cluster types use: a DNS-1123 subdomain.",
	labelsDescription: "Labels of the template. They select nothing. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"type": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "What the template renders: " + alternatives(fleet.TemplateTypes) + ".",
		},
		"content_type": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "The type of the rendered file, which decides its ending: " + alternatives(fleet.ContentTypes) +
				". Without it `" + fleet.ContentYAML + "`.",
		},
		"manifests": schema.ListAttribute{
			ElementType: types.StringType,
			Required:    true,
			MarkdownDescription: "Go templates, one for each manifest of the file. A manifest that renders to the empty string is left out. " +
				"Terraform reads `${` and `%{` in a string as its own; write `$${` and `%%{`, or take the text from a file with `file`.",
		},
	},
	decode: func(m fleet.Meta, d decoder) fleet.Object {
		return &fleet.Template{
			Meta:        m,
			Type:        d.string("type"),
			ContentType: d.string("content_type"),
			Manifests:   d.strings("manifests"),
		}
	},
	encode: func(o fleet.Object) values {
		t := as[*fleet.Template](o)
		return values{
			"name":         t.Name,
			"labels":       t.Labels,
			"type":         t.Type,
			"content_type": t.ContentType,
			"manifests":    t.Manifests,
		}
	},
}

// alternatives lists the values of an argument, as Markdown.
func alternatives(all []string) string {
	quoted := make([]string, len(all))
	for i, a := range all {
		quoted[i] = "`" + a + "`"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
