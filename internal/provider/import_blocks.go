package provider

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
)

// importFolder is the folder that the text checks a control plane out to.
const importFolder = "control-plane"

// importBlocks returns the text that turns a control plane into resources: an import block for each object. Its comments tell
// how Terraform generates the resources, and how a rendering takes them. The IDs are paths: of a folder as they are,
// of a repo in the checkouts that the comments make.
func importBlocks(found *source.ControlPlane) string {
	var b strings.Builder
	b.WriteString("# Turns this control plane into HCL. Save this text as imports.tf beside a configuration of the provider, then:\n#\n")
	for i, layer := range found.Layers {
		if layer.Directory == "" {
			fmt.Fprintf(&b, "#   git clone %s %s && git -C %[2]s checkout %s\n", layer.Repo, checkout(i), layer.Commit)
		}
	}
	b.WriteString("#   terraform plan -generate-config-out=generated.tf\n#   terraform apply\n#\n")
	b.WriteString("# The rendering then takes the resources instead of manifests, and loses nothing. Remove this file when they are imported.\n#\n")
	arguments := map[string][]string{}
	var blocks strings.Builder
	taken := map[string]bool{}
	for _, m := range models {
		for _, o := range found.Objects {
			if o.Kind() != m.kind {
				continue
			}
			name := o.Metadata().Name
			id := importID(found, o)
			if m.importable != nil {
				if err := m.importable(o.Object); err != nil {
					fmt.Fprintf(&blocks, "\n# %s %q of %q stays in YAML: %s\n", m.kind, name, id, strings.Join(strings.Fields(err.Error()), " "))
					continue
				}
			}
			address := freeAddress("kalypso_"+m.name, name, taken)
			fmt.Fprintf(&blocks, "\nimport {\n  to = %s\n  id = %s\n}\n", address, quoted(id))
			arguments[m.name] = append(arguments[m.name], fmt.Sprintf("%s = %s", quoted(name), address))
		}
	}
	writeRendering(&b, found, arguments)
	return b.String() + blocks.String()
}

// writeRendering writes how a rendering takes the resources. Registrations are handed over through a local: while resources
// that a data source refers to directly have changes, Terraform puts off reading it.
func writeRendering(b *strings.Builder, found *source.ControlPlane, arguments map[string][]string) {
	line := func(indent int, text string) {
		b.WriteString(strings.TrimRight("#   "+strings.Repeat("  ", indent)+text, " ") + "\n")
	}
	objects := func(attribute string, all []string) {
		line(1, attribute+" = {")
		for _, object := range all {
			line(2, object)
		}
		line(1, "}")
	}
	registrations := arguments[workloadRegistrationModel.name]
	if len(registrations) > 0 {
		line(0, "locals {")
		objects("registrations", registrations)
		line(0, "}")
		line(0, "")
		line(0, "data \"kalypso_workloads\" \"this\" {")
		line(1, "registrations = local.registrations")
		line(0, "}")
		line(0, "")
	}
	line(0, "resource \"kalypso_environment_rendering\" \"this\" {")
	line(1, "environment = terraform.workspace")
	for _, m := range models {
		if all := arguments[m.name]; m.attribute != "" && len(all) > 0 {
			objects(m.attribute, all)
		}
	}
	if len(registrations) > 0 {
		line(1, "manifests = data.kalypso_workloads.this.manifests")
	}
	if at := found.GitOpsRepo; at != nil {
		line(1, fmt.Sprintf("gitops_repo = { repo = %s, branch = %s, path = %s }", quoted(at.Repo), quoted(at.Branch), quoted(at.Path)))
	}
	if found.BaseCommit != "" {
		line(1, "promoted_commit = "+quoted(found.BaseCommit))
	}
	line(0, "}")
}

// checkout returns the folder of a layer's checkout: first the environment's own, then its bases.
func checkout(layer int) string {
	switch layer {
	case 0:
		return importFolder
	case 1:
		return importFolder + "-base"
	}
	return importFolder + "-base-" + strconv.Itoa(layer)
}

// importID returns the import ID of an object.
func importID(found *source.ControlPlane, o source.FoundObject) string {
	id := o.File
	if found.Layers[o.Layer].Directory == "" {
		id = path.Join(checkout(o.Layer), id)
	}
	if !o.OnlyInFile {
		id += "#" + o.Metadata().Name
	}
	return id
}

var notOfIdentifier = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// freeAddress returns a unique address for an object.
func freeAddress(resource, name string, taken map[string]bool) string {
	name = notOfIdentifier.ReplaceAllString(name, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' || name[0] == '-' {
		name = "_" + name
	}
	address := resource + "." + name
	for n := 2; taken[address]; n++ {
		address = fmt.Sprintf("%s.%s_%d", resource, name, n)
	}
	taken[address] = true
	return address
}

// quoted returns a string as an HCL literal.
func quoted(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}
