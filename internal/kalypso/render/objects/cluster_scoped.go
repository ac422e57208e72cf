package objects

// clusterScoped contains the kinds that kustomize knows as cluster-scoped, with their API groups. Objects of other
// kinds
// keep their namespace, as in kustomize. A test compares the table with kustomize's own.
var clusterScoped = map[string]string{
	"APIService":                       "apiregistration.k8s.io",
	"CSIDriver":                        "storage.k8s.io",
	"CSINode":                          "storage.k8s.io",
	"CertificateSigningRequest":        "certificates.k8s.io",
	"ClusterRole":                      "rbac.authorization.k8s.io",
	"ClusterRoleBinding":               "rbac.authorization.k8s.io",
	"ComponentStatus":                  "",
	"CustomResourceDefinition":         "apiextensions.k8s.io",
	"FlowSchema":                       "flowcontrol.apiserver.k8s.io",
	"IngressClass":                     "networking.k8s.io",
	"MutatingWebhookConfiguration":     "admissionregistration.k8s.io",
	"Namespace":                        "",
	"Node":                             "",
	"NodeProxyOptions":                 "",
	"PersistentVolume":                 "",
	"PodSecurityPolicy":                "policy",
	"PriorityClass":                    "scheduling.k8s.io",
	"PriorityLevelConfiguration":       "flowcontrol.apiserver.k8s.io",
	"RuntimeClass":                     "node.k8s.io",
	"StorageClass":                     "storage.k8s.io",
	"ValidatingAdmissionPolicy":        "admissionregistration.k8s.io",
	"ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io",
	"ValidatingWebhookConfiguration":   "admissionregistration.k8s.io",
	"VolumeAttachment":                 "storage.k8s.io",
}

// isClusterScoped reports whether objects of a kind are in no namespace. All versions of a kind have the same scope.
func isClusterScoped(group, kind []byte) bool {
	of, ok := clusterScoped[string(kind)]
	return ok && of == string(group)
}
