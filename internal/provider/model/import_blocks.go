package model

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/hclexport"
)

// importFolder is the folder into which the generated commands clone a control plane.
const importFolder = "control-plane"

// ImportBlocks returns HCL that turns a control plane into resources: an import block and a resource for each object.
// Its comments contain the commands to run, and a rendering that takes the resources. The import IDs are paths: of the
// folder itself, or of a repo in the checkouts that the commands create.
func ImportBlocks(found *source.ControlPlane) string {
	all, staying := importable(found)
	var b strings.Builder
	b.WriteString("# This control plane in HCL. Save this text as model.tf next to a provider configuration, then " +
		"run:\n#\n")
	for i, layer := range found.Layers {
		if layer.Directory == "" {
			fmt.Fprintf(&b, "#   git clone %s %s && git -C %[2]s checkout %s\n",
				printable.ShellWord(layer.Repo), checkout(i), printable.ShellWord(layer.Commit))
		}
	}
	b.WriteString("#   terraform apply\n#\n# The rendering with resources instead of manifests renders the same " +
		"tree:\n#\n")
	for line := range strings.Lines(renderingText(found, all)) {
		b.WriteString(strings.TrimRight("#   "+line, " \n") + "\n")
	}
	for _, reason := range staying {
		b.WriteString("#\n# " + reason + "\n")
	}
	b.WriteString("\n# Import blocks. Remove them after the apply.\n")
	for _, o := range all {
		fmt.Fprintf(
			&b,
			"\nimport {\n  to = %s\n  id = %s\n}\n",
			o.address,
			hclexport.Quoted(importID(found, o.FoundObject)),
		)
	}
	b.WriteString("\n# The resources.\n")
	addresses := templateAddresses(all)
	for _, o := range all {
		b.WriteString("\n" + hclexport.ResourceText(o.address, o.model.values(o.Object), o.templates(addresses)))
	}
	return b.String()
}

// imported is an object that becomes a resource.
type imported struct {
	source.FoundObject
	model   *model
	address string
}

// importable returns the objects that become resources, and for the other objects the reasons why they stay in YAML.
func importable(found *source.ControlPlane) (all []imported, staying []string) {
	taken := addresses{}
	for _, m := range All {
		for _, o := range found.Objects {
			if o.Kind() != m.Kind {
				continue
			}
			resource, err := taken.importable(m, o)
			if err != nil {
				reason := strings.Join(strings.Fields(err.Error()), " ")
				staying = append(staying, fmt.Sprintf("%s %q of %q stays in YAML: %s", m.Kind, o.Metadata().Name,
					importID(found, o), reason))
				continue
			}
			all = append(all, resource)
		}
	}
	return all, staying
}

// templateAddresses returns the addresses of templates by name, or "" if several templates share the name.
func templateAddresses(all []imported) map[string]string {
	addresses := map[string]string{}
	for _, o := range all {
		if o.model != templateModel {
			continue
		}
		if _, twice := addresses[o.Metadata().Name]; twice {
			o.address = ""
		}
		addresses[o.Metadata().Name] = o.address
	}
	return addresses
}

// templates returns the arguments that name a template, each with the reference to its resource.
func (o imported) templates(addresses map[string]string) map[string]string {
	ct, ok := o.Object.(*fleet.ClusterType)
	if !ok {
		return nil
	}
	references := map[string]string{}
	for _, use := range ct.TemplateUses() {
		if address := addresses[use.Name]; address != "" {
			references[use.Attribute] = address + ".name"
		}
	}
	return references
}

// renderingText returns a rendering that takes the resources. It passes registrations through a local, because
// Terraform would not read the data source at plan while resources that it refers to directly have changes.
func renderingText(found *source.ControlPlane, all []imported) string {
	arguments := map[*model][]string{}
	for _, o := range all {
		arguments[o.model] = append(
			arguments[o.model],
			fmt.Sprintf("%s = %s\n", hclexport.Quoted(o.Metadata().Name), o.address),
		)
	}
	var b strings.Builder
	objects := func(attribute string, m *model) {
		if len(arguments[m]) > 0 && attribute != "" {
			b.WriteString(attribute + " = {\n" + strings.Join(arguments[m], "") + "}\n")
		}
	}
	registered := len(arguments[WorkloadRegistrationModel]) > 0
	if registered {
		b.WriteString("locals {\n")
		objects("registrations", WorkloadRegistrationModel)
		b.WriteString("}\n\ndata \"kalypso_workloads\" \"this\" {\nregistrations = local.registrations\n}\n\n")
	}
	b.WriteString("resource \"kalypso_environment_rendering\" \"this\" {\nenvironment = " + environmentText(found) +
		"\n\n")
	for _, m := range All {
		objects(m.attribute, m)
	}
	if registered {
		b.WriteString("manifests = data.kalypso_workloads.this.manifests\nsources = data.kalypso_workloads.this.sources\n")
	}
	if at := found.GitOpsRepo; at != nil {
		fmt.Fprintf(
			&b,
			"\ngitops_repo = { repo = %s, branch = %s, path = %s }\n",
			hclexport.Quoted(at.Repo),
			hclexport.Quoted(at.Branch),
			hclexport.Quoted(at.Path),
		)
	}
	if found.BaseCommit != "" {
		b.WriteString("\npromoted_commit = " + hclexport.Quoted(found.BaseCommit) + "\n")
	}
	b.WriteString("}\n")
	return string(hclwrite.Format([]byte(b.String())))
}

// environmentText returns the environment of a control plane as an expression. In Kalypso, the branches of the control
// plane and of its GitOpsRepo have the name of the environment.
func environmentText(found *source.ControlPlane) string {
	switch {
	case len(found.Layers) > 0 && found.Layers[0].Branch != "":
		return hclexport.Quoted(found.Layers[0].Branch)
	case found.GitOpsRepo != nil && found.GitOpsRepo.Branch != "":
		return hclexport.Quoted(found.GitOpsRepo.Branch)
	}
	return "terraform.workspace"
}

// checkout returns the folder into which a layer is checked out. Layer 0 is the environment itself, the others are its
// bases.
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

var notOfIdentifier = regexp.MustCompile(`[^a-z0-9_]+`)

// addresses contains the addresses of resources that are taken.
type addresses map[string]bool

// importable returns an object as a resource of the model, with a unique address. An error says why the object stays in
// YAML.
func (taken addresses) importable(m *model, o source.FoundObject) (imported, error) {
	if m.importable != nil {
		if err := m.importable(o.Object); err != nil {
			return imported{}, err
		}
	}
	return imported{o, m, taken.free("kalypso_"+m.name, o.Metadata().Name)}, nil
}

// free returns a free address for an object, in snake case, and takes it.
func (taken addresses) free(resource, name string) string {
	name = notOfIdentifier.ReplaceAllString(strings.ToLower(name), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	address := resource + "." + name
	for n := 2; taken[address]; n++ {
		address = fmt.Sprintf("%s.%s_%d", resource, name, n)
	}
	taken[address] = true
	return address
}
