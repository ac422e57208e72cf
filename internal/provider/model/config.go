package model

import (
	"errors"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// isPlatformConfig is the label value that marks a ConfigMap as platform configuration.
const isPlatformConfig = "true"

var configModel = &model{
	Kind:      fleet.KindConfig,
	object:    func() fleet.Object { return &fleet.Config{} },
	name:      "config",
	attribute: "configs",
	description: "Platform configuration: values for the assignments whose cluster type and deployment target have the " +
		"labels of the config. Configs apply in the order of their names. A later value merges onto an earlier value of " +
		"the same key.\n\n~> The values are committed to the GitOps repo in plain text. Don't use secrets or sensitive " +
		"values here: use `kalypso_secret`. A rendering refuses values that are plainly secrets; see the guide Secrets.",
	nameDescription: "Name of the config: a DNS-1123 subdomain. Configs apply in the byte order of their names. A " +
		"config whose name starts with `" + fleet.AzureAppConfigPrefix +
		"` applies last, and each of its keys contains the labels that it applies to: `<label>.<value>.….<key>`.",
	labelsDescription: "The assignments that the config applies to: those for which all labels match. `cluster-type`, " +
		"`deployment-target` and `workload` are compared with the names, any other label with the labels of the cluster " +
		"type and of the deployment target. Without labels it applies to all. The label `" + fleet.PlatformConfigLabel +
		"` is added, unless it is set or the name starts with `" +
		fleet.AzureAppConfigPrefix + "`.",
	arguments: map[string]schema.Attribute{
		"data": schemas.OptionalStrings(
			"The values. If a value as a whole is one YAML or JSON object or list, such as the result of " +
				"`yamlencode` or `jsonencode`, it becomes that object or list; any other value is a string. A value in single " +
				"quotes is always the string between them.",
		),
	},
	decode: func(o fleet.Object, _ tfvalue.Decoder) {
		m := o.Metadata()
		m.Labels = withPlatformConfigLabel(m.Name, m.Labels)
	},
	encode: func(o fleet.Object) tfvalue.Values {
		c := As[*fleet.Config](o)
		labels := maps.Clone(c.Labels)
		if !c.IsAzureAppConfig() && c.IsPlatformConfig() {
			delete(labels, fleet.PlatformConfigLabel)
		}
		return tfvalue.Values{"labels": labels}
	},
	importable: func(o fleet.Object) error {
		c := As[*fleet.Config](o)
		if _, given := c.Labels[fleet.PlatformConfigLabel]; !given && !c.IsAzureAppConfig() {
			return errors.New("it has no label " + fleet.PlatformConfigLabel +
				`: "true", so it is not platform configuration, ` +
				"but the resource would make it one. Add the label to the document if that is intended")
		}
		return nil
	},
}

// withPlatformConfigLabel adds the label that marks a ConfigMap as platform configuration, unless the label is set or
// the name marks it. It adds nothing to unknown labels. With an unknown name, the label's value is unknown.
func withPlatformConfigLabel(name string, labels map[string]string) map[string]string {
	_, given := labels[fleet.PlatformConfigLabel]
	_, maybe := labels[unknown.Text]
	if given || maybe || strings.HasPrefix(name, fleet.AzureAppConfigPrefix) {
		return labels
	}
	all := map[string]string{}
	maps.Copy(all, labels)
	all[fleet.PlatformConfigLabel] = isPlatformConfig
	if unknown.Is(name) {
		all[fleet.PlatformConfigLabel] = unknown.Text
	}
	return all
}
