package apiserver

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	listAll = metav1.ListOptions{}
)

// The names of custom resources for [CRDs].
const (
	Kustomizations  = fluxKustomize + "kustomize.toolkit.fluxcd.io_kustomizations.yaml"
	GitRepositories = fluxSource + "source.toolkit.fluxcd.io_gitrepositories.yaml"
	OCIRepositories = fluxSource + "source.toolkit.fluxcd.io_ocirepositories.yaml"
	HelmCharts      = fluxSource + "source.toolkit.fluxcd.io_helmcharts.yaml"
	HelmReleases    = "github.com/fluxcd/helm-controller/config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml"
	Applications    = argoCD + "application-crd.yaml"
	AppProjects     = argoCD + "appproject-crd.yaml"
	ApplicationSets = argoCD + "applicationset-crd.yaml"
	ExternalSecrets = "github.com/external-secrets/external-secrets/config/crds/bases/" +
		"external-secrets.io_externalsecrets.yaml"

	// ZarfSchema is the JSON Schema of zarf.yaml, not a custom resource. [CRDs] returns its file too.
	ZarfSchema = "github.com/zarf-dev/zarf/zarf.schema.json"

	argoCD        = "github.com/argoproj/argo-cd/v3/manifests/crds/"
	fluxKustomize = "github.com/fluxcd/kustomize-controller/config/crd/bases/"
	fluxSource    = "github.com/fluxcd/source-controller/config/crd/bases/"
)

// The files of the custom resources that represent clusters, and of placement decisions.
var (
	ClusterProfiles    = inventory("clusterprofiles")
	ManagedClusters    = inventory("managedclusters")
	FleetClusters      = inventory("fleet-clusters")
	CAPIClusters       = inventory("capi-clusters")
	PlacementDecisions = inventory("placementdecisions")
)

func inventory(name string) string {
	return filepath.Join(programs.Root(), "internal", "testing", "clusters", "apiserver", "crds", name+".yaml")
}

// CRDs returns the files of custom resources, from the Go modules that tools/crds pins.
func CRDs(t testing.TB, names ...string) (files []string) {
	t.Helper()
	folders, err := modules()
	if err != nil {
		t.Fatalf("cannot download the modules with the custom resources: %v", err)
	}
	for _, name := range names {
		for path, folder := range folders {
			if below, ok := strings.CutPrefix(name, path+"/"); ok {
				files = append(files, filepath.Join(folder, below))
			}
		}
	}
	return files
}

// modules returns the folders of the modules with custom resources, by path. It downloads the modules only once.
var modules = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "mod", "download", "-json",
		"github.com/fluxcd/helm-controller",
		"github.com/fluxcd/kustomize-controller",
		"github.com/fluxcd/source-controller",
		"github.com/argoproj/argo-cd/v3",
		"github.com/external-secrets/external-secrets",
		"github.com/zarf-dev/zarf")
	cmd.Dir = filepath.Join(programs.Root(), "tools", "crds")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var module struct{ Path, Dir string }
		if err := d.Decode(&module); err != nil {
			return nil, err
		}
		folders[module.Path] = module.Dir
	}
	return folders, nil
})

// Install creates the custom resources, and waits until they are served.
func (s *Server) Install(t testing.TB, files []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o := parse(t, string(text))
		o.SetAnnotations(nil)
		if _, err := s.admin.Resource(definitions).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		names, _, _ := unstructured.NestedString(o.Object, "spec", "names", "plural")
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		for _, v := range versions {
			version, _ := v.(map[string]any)
			if version["served"] == true {
				name, _ := version["name"].(string)
				s.awaitKind(t, s.admin, schema.GroupVersionResource{Group: group, Version: name, Resource: names})
			}
		}
	}
}

// awaitKind waits until a client can list objects.
func (s *Server) awaitKind(t testing.TB, client dynamic.Interface, at schema.GroupVersionResource) {
	t.Helper()
	s.process.Await(t, func() error {
		_, err := client.Resource(at).List(t.Context(), listAll)
		return err
	})
}

// Objects returns the admin's client for objects of the same kind and namespace as an object.
func (s *Server) Objects(of *unstructured.Unstructured) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(of.GroupVersionKind())
	return s.admin.Resource(plural).Namespace(of.GetNamespace())
}

// parse reads the YAML document of an object.
func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// Apply creates or replaces objects, including their status.
func (s *Server) Apply(t testing.TB, documents ...string) {
	t.Helper()
	for _, text := range documents {
		o := parse(t, text)
		objects := s.Objects(o)
		status := o.Object["status"]
		_ = objects.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{})
		made, err := objects.Create(t.Context(), o.DeepCopy(), metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if status == nil {
			continue
		}
		made.Object["status"] = status
		// Argo CD's Application has no status subresource, so it is updated as a whole.
		if o.GetKind() == "Application" {
			_, err = objects.Update(t.Context(), made, metav1.UpdateOptions{})
		} else {
			_, err = objects.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// Delete deletes an object.
func (s *Server) Delete(t testing.TB, apiVersion, kind, namespace, name string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	if err := s.Objects(o).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
