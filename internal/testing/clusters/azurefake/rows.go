package azurefake

import "strings"

// Cluster returns the ARM ID of a cluster that Azure Arc connects.
func Cluster(name string) string {
	return "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.Kubernetes/connectedClusters/" + name
}

// AKS returns the ARM ID of a cluster of AKS.
func AKS(name string) string {
	return "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.ContainerService/managedClusters/" + name
}

// Connected returns the row of a cluster of Azure Arc with a connectivity status.
func Connected(name, status string) map[string]any {
	return map[string]any{"id": strings.ToLower(Cluster(name)), "connectivityStatus": status}
}

// Configuration returns the row of a Flux configuration "fleet" that syncs a folder of a repo, and is compliant at a
// revision.
func Configuration(cluster, repo, branch, path, revision string) map[string]any {
	return map[string]any{
		"id": cluster + "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/fleet",
		"properties": map[string]any{
			"scope": "cluster", "namespace": "flux-system", "sourceKind": "GitRepository", "suspend": false,
			"gitRepository": map[string]any{"url": repo, "repositoryRef": map[string]any{"branch": branch},
				"syncIntervalInSeconds": 600},
			"kustomizations":       map[string]any{"cluster": map[string]any{"path": path, "prune": true}},
			"complianceState":      "Compliant",
			"provisioningState":    "Succeeded",
			"sourceSyncedCommitId": revision,
			"sourceUpdatedAt":      "2026-01-31T12:00:00Z",
			"statusUpdatedAt":      "2026-01-31T12:01:00Z",
			"statuses": []any{
				Status("GitRepository", "fleet", "Compliant", "", "stored artifact for revision '"+revision+"'"),
				Status("Kustomization", "fleet-cluster", "Compliant", "", "Applied revision: "+revision),
			},
		},
	}
}

// Status returns an element of the statuses of a configuration.
func Status(kind, name, compliance, appliedBy, message string) map[string]any {
	ready := "True"
	if compliance != "Compliant" {
		ready = "False"
	}
	s := map[string]any{
		"kind": kind, "name": name, "namespace": "flux-system", "complianceState": compliance, "appliedBy": nil,
		"statusConditions": []any{map[string]any{
			"type": "Ready", "status": ready, "reason": "ReconciliationSucceeded", "message": message,
			"lastTransitionTime": "2026-01-31T12:00:30Z",
		}},
	}
	if appliedBy != "" {
		s["appliedBy"] = map[string]any{"name": appliedBy, "namespace": "flux-system"}
	}
	return s
}

// Resource returns the row of a cluster of AKS or Arc with an ARM ID, as Azure Resource Manager shows it. state is the
// power state of AKS, or the connectivity status of Arc.
func Resource(id, state, provisioning string, tags map[string]any) map[string]any {
	properties := map[string]any{"provisioningState": provisioning, "kubernetesVersion": "1.34.0"}
	kind := "microsoft.containerservice/managedclusters"
	if strings.Contains(id, "/connectedClusters/") {
		kind = "microsoft.kubernetes/connectedclusters"
		properties["connectivityStatus"], properties["distribution"] = state, "k3s"
	} else {
		properties["powerState"] = map[string]any{"code": state}
		properties["dnsPrefix"], properties["fqdn"] = "x", "x.hcp.westeurope.azmk8s.io"
	}
	return map[string]any{
		"id": id, "name": id[strings.LastIndex(id, "/")+1:], "type": kind, "location": "westeurope",
		"resourceGroup": "fleet", "subscriptionId": "s", "tags": tags, "properties": properties,
	}
}
