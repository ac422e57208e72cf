package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var templateModel = &model{
	Kind:      fleet.KindTemplate,
	object:    func() fleet.Object { return &fleet.Template{} },
	name:      "template",
	attribute: "templates",
	description: "A template renders one part of an assignment, which is a deployment target on a cluster type. Cluster " +
		"types refer to the templates they use.\n\nThe manifests are Go templates with the Sprig functions that use " +
		"neither clock nor network, and with `toYaml`, `stringify`, `hash` and `unquote`. The data are " +
		"`.DeploymentTargetName`, `.Namespace`, `.Environment`, `.Workspace`, `.Workload`, `.ClusterType`, " +
		"`.ClusterTypeLabels`, `.Labels` (of the deployment target), `.Manifests` (the location of the team's manifests: " +
		"`.Manifests.repo`, `.Manifests.branch`, `.Manifests.path`), `.ConfigData` (the platform configuration) and " +
		"`.SecretData` (the references to secrets by key, each with `store`, `key` and, if it has one, `property`). " +
		"Printing a missing value is an error, also through a function such as `quote`; set one with `default`. Templates " +
		"are parsed at plan. To try one out, use the function " +
		"`provider::kalypso::render_template`.",
	nameDescription:   "Name of the template, which cluster types use: a DNS-1123 subdomain.",
	labelsDescription: "Labels of the template. They select nothing. Keys and values follow the Kubernetes rules.",
	arguments: map[string]schema.Attribute{
		"type": schemas.RequiredString(
			"The file that the template renders: " + schemas.Alternatives(fleet.TemplateTypes) + ".",
		),
		"content_type": schemas.OptionalString(
			"Type of the rendered file: " + schemas.Alternatives(fleet.ContentTypes) + ". With `" + fleet.ContentShell +
				"`, its extension is `.sh`, else `.yaml`. The default `" + fleet.ContentYAML + "` is for Kubernetes objects, " +
				"which guardrails check. `" + fleet.ContentText + "` is for files of other reconcilers, such as playbooks of " +
				"Ansible and other descriptors: they are not read as objects.",
		),
		"file_name": schemas.OptionalString(
			"Name of the rendered file, such as `zarf.yaml`, if a tool requires it: letters, digits, " +
				"`.`, `_` and `-`. The templates of a cluster type must render files of different names. The default is " +
				"`reconciler`, `namespace`, `platform-config` or `platform-secret`, by the template's use, with the extension. " +
				"In YAML it is the annotation `" + fleet.FileNameAnnotation + "`.",
		),
		"manifests": schema.ListAttribute{
			ElementType: types.StringType,
			Required:    true,
			MarkdownDescription: "Go templates, one for each manifest of the file. A manifest that renders to the empty " +
				"string is omitted. Terraform interprets `${` and `%{` in a string; write `$${` and `%%{`, or read the text from " +
				"a file with `file`. To render a literal `{{` in YAML, write it with escapes in double quotes: " +
				"`\"\\x7b\\x7b\"`. A file that Git checks out with CRLF on Windows renders other bytes than on Linux: set " +
				"`eol=lf` for it in `.gitattributes`.",
		},
	},
}
