package configuration

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema defines the provider's configuration. All arguments are optional. Arguments that depend on each other
// are checked when they are read, because the framework treats an unknown object as one of nulls.
var Schema = schema.Schema{
	MarkdownDescription: "Manages a fleet of [Kalypso](https://github.com/microsoft/kalypso) in Terraform: cluster " +
		"types, workloads, scheduling policies and platform configuration are resources, `terraform plan` shows which " +
		"cluster type hosts which deployment target, and `terraform apply` commits the GitOps tree.",
	Attributes: map[string]schema.Attribute{
		"git_credentials": schema.ListNestedAttribute{
			Optional: true,
			MarkdownDescription: "Credentials for Git repos. A credential serves a repo if scheme, host and port of its `url` " +
				"equal the repo's, and its path equals the repo's path or is a prefix of it in whole segments; the longest path " +
				"wins. No credential is sent over plain http, except to this machine, and none to a URL that only a redirect " +
				"names. Over HTTPS, a repo that no credential serves gets the credential of `github`, `gitlab`, `gitea` or " +
				"`azure_devops` if it is on their server, or of the environment variable `GITHUB_TOKEN` if it is on github.com. " +
				"The guide [Git " +
				"servers](https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs/guides/git-servers) " +
				"shows what each server needs.",
			NestedObject: schema.NestedAttributeObject{Attributes: credentialAttributes},
		},
		"commit_author": optionalObject("Author and committer of the commits.", map[string]schema.Attribute{
			"name":  optionalText("Name of the author. The default is `" + defaultAuthor.Name + "`."),
			"email": optionalText("Email address of the author. The default is `" + defaultAuthor.Email + "`."),
		}),
		"commit_signing":  signingAttribute,
		"commit_trailers": optionalTexts(TrailersDescription + " All commits get them."),
		"azure":           azureAttribute,
		"azure_devops":    azureDevOpsAttribute,
		"clusters":        clustersAttribute,
		"github": optionalObject("Access to the GitHub API, and to the repos on its server over HTTPS: with a token or as "+
			"an app. Without either, the environment variable `GITHUB_TOKEN` is the token for github.com; it is never sent to "+
			"a `base_url`.", withCertificates(map[string]schema.Attribute{
			"token": optionalSecret("A token for the API."),
			"base_url": optionalText("URL of a GitHub Enterprise server, such as `https://github.acme.io/`. The default is " +
				"github.com."),
			"app": optionalObject("A GitHub App to act as.", appAttributes),
		})),
		"gitlab":          gitlabAttribute,
		"oci_credentials": ociCredentialsAttribute,
		"postgres":        postgresAttribute,
		"gitea":           giteaAttribute,
		"git_mirrors": optionalTexts("URLs to use instead of a repo's own URL for reading and pushing, like Git's " +
			"`insteadOf`: the prefix of a repo's URL → its replacement, such as `\"https://github.com/\" = " +
			"\"https://mirror.acme.io/github/\"`. The longest prefix wins; it covers whole segments of the path. A mirror " +
			"can be a `file://` URL or a path. `git_credentials` are chosen by the mirror's URL. Everything else keeps the " +
			"repo's own URL: the record on the branch, the state, the objects that clusters sync, and requests to the API " +
			"of a Git host."),
		"allow_local_repos": optionalBool(
			"Whether a workload registration may name a repo on the machine that runs Terraform: a " +
				"`file://` URL or a path. By default such a registration is rejected, because its author could choose any repo " +
				"on that machine. A repo that `git_mirrors` maps to this machine is not local: its own URL counts. Repos in the " +
				"configuration itself may always be local: a `gitops_repo`, a control plane and its base.",
		),
	},
}

func optionalText(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

// optionalSecret returns an optional string that no plan prints.
func optionalSecret(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
}

// optionalObject returns an optional object.
func optionalObject(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true, MarkdownDescription: description, Attributes: attributes}
}

// optionalTexts returns an optional map of strings.
func optionalTexts(description string) schema.MapAttribute {
	return schema.MapAttribute{Optional: true, MarkdownDescription: description, ElementType: types.StringType}
}

func optionalBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
}

var credentialAttributes = withCertificates(map[string]schema.Attribute{
	"url": optionalText("URL of the repos that the credential is for: a host, a path on it, or a repo, such as " +
		"`https://github.com/acme`. Required."),
	"username": optionalText("User name over HTTPS, with `password`, or over SSH if the repo's URL names none."),
	"password": optionalSecret("Password or token over HTTPS."),
	"bearer_token": optionalSecret(
		"Token that is sent over HTTPS as `Authorization: Bearer`, instead of user name and password. " +
			"Use it on Azure Repos for tokens of Entra and for `System.AccessToken` of a pipeline.",
	),
	"private_key":            optionalSecret("Private key for SSH, in PEM or OpenSSH format."),
	"private_key_passphrase": optionalSecret("Passphrase of the private key, if it has one."),
	"known_hosts": optionalText("Host keys that SSH accepts, as the content of a `known_hosts` file. The default is the " +
		"user's own file. A host that is not listed is rejected."),
})

var appAttributes = map[string]schema.Attribute{
	"id":              optionalText("ID of the app. Required."),
	"installation_id": optionalText("ID of its installation in the organisation. Required."),
	"private_key":     optionalSecret("Private key of the app, in PEM format. Required."),
}
