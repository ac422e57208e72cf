package functions_test

import (
	"testing"
)

func TestAccClusterSyncFunction(t *testing.T) {
	t.Parallel()
	const repo = `{ repo = "https://github.com/acme/gitops", branch = "dev", path = "." }`
	const verified = `"flux-oci", { repository = "oci://acme.io/fleet" }, "dev/large", { verify = "cosign" }`
	call := func(arguments string) string { return "provider::kalypso::cluster_sync(" + arguments + ")" }
	testFunction(t, []functionCall{
		{`join(" ", [for o in ` + call(`"flux", `+repo+`, "large"`) +
			` : "${o.kind} ${o.metadata.namespace}/${o.metadata.name}"])`,
			"GitRepository flux-system/large Kustomization flux-system/large"},
		{call(`"flux", `+repo+`, "large", { decryption = "sops-age" }`) + `[1].spec.decryption.secretRef.name`, "sops-age"},
		{`join(" ", [for o in ` + call(verified) +
			` : "${o.kind} ${o.metadata.name}"])`, "OCIRepository large Kustomization large"},
		{call(verified) +
			`[0].spec.verify.secretRef.name`, "cosign"},
		{call(`"argocd", `+repo+`, "fleet/large"`) + `[0].spec.source.directory.recurse`, true},
		{call(`"argocd", `+repo+`, "fleet/large"`) + `[0].spec.source.path`, "fleet/large"},
		{call(`"fleet", `+repo+`, "large", { cluster_labels = { size = "xl" } }`) +
			`[0].spec.targets[0].clusterSelector.matchLabels.size`, "xl"},
		{call(`"helm", ` + repo + `, "large"`), says(`kind is "helm", not one of flux, flux-oci, argocd, fleet`)},
		{call(`"flux", { branch = "dev" }, "large"`), says("repo")},
		{call(`"flux-oci", ` + repo + `, "large"`), says("repository")},
		{call(`"flux", ` + repo + `, "large", { secrets = "a" }`), says("secrets")},
		{call(`"flux", ` + repo + `, "large", {}, {}`), says("at most one object of options")},
		{call(`"argocd", ` + repo + `, "large", { decryption = "a" }`), says("decryption is only possible with flux")},
	})
}
