package model

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var secretModel = &model{
	Kind:      fleet.KindSecret,
	object:    func() fleet.Object { return &fleet.Secret{} },
	name:      "secret",
	attribute: "secrets",
	description: "Platform secrets: references to secrets in external stores, for the assignments whose cluster type " +
		"and deployment target have the labels of the object. References apply in the order of the objects' names. A later " +
		"reference merges onto an earlier reference of the same key.\n\nBy default, [External " +
		"Secrets](https://external-secrets.io) fetches the secrets in the cluster: each assignment with references gets an " +
		"`ExternalSecret`. Terraform, its state and Git contain only the references, never a secret.",
	nameDescription: "Name of the object: a DNS-1123 subdomain. References apply in the byte order of these names.",
	labelsDescription: "The assignments that the references apply to: those for which all labels match. " +
		"`cluster-type`, `deployment-target` and `workload` are compared with the names, any other label with the labels " +
		"of the cluster type and of the deployment target. Without labels they apply to all.",
	arguments: map[string]schema.Attribute{
		"data": schemas.OptionalObjectMap(
			"The references, by the key that the secret gets in the cluster. A config that applies to "+
				"the same assignment must not have the same key.",
			referenceArguments,
		),
	},
}

// referenceArguments returns the arguments of an element of a map. Store and key are optional in the schema, because
// the framework treats an unknown element as an object of nulls. The domain checks them.
var referenceArguments = map[string]schema.Attribute{
	"store": schemas.OptionalString("Name of the `ClusterSecretStore` that contains the secret. Required."),
	"key":   schemas.OptionalString("Key of the secret in the store. Required."),
	"property": schemas.OptionalString("Which value to take from a secret that contains several. If it is not set, the " +
		"property of an earlier reference with the same key stays."),
}
