package examples_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clustersync"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/kustomize"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// buildFolders builds the folder of each cluster type as a cluster does, and returns the objects by folder. files has
// the content of each file by its path from the repo's root.
func buildFolders(t *testing.T, files map[string]string) map[string][]map[string]any {
	t.Helper()
	folders := map[string]map[string]string{}
	for path, content := range files {
		folder, name, ok := strings.Cut(path, "/")
		if !ok || strings.HasPrefix(folder, ".") {
			continue
		}
		if folders[folder] == nil {
			folders[folder] = map[string]string{}
		}
		folders[folder][name] = content
	}
	if len(folders) == 0 {
		t.Fatalf("no folders in %v", slices.Sorted(maps.Keys(files)))
	}
	built := map[string][]map[string]any{}
	for folder, files := range folders {
		objects, failed := kustomize.Build(t, files)
		if failed != "" {
			t.Errorf("no cluster can apply the folder %s: %s", folder, failed)
		}
		built[folder] = objects
	}
	return built
}

// showFiles changes the named rendering of an example, so that its files are in the state and are not delivered.
func showFiles(r *acc.Root, rendering string) {
	r.Write("build_override.tf", `resource "kalypso_environment_rendering" "`+rendering+`" {
  delivery = { strategy = "none" }
  preview  = "manifests"
}
`)
}

// renderedFiles returns the attribute files of a rendering.
func renderedFiles(rendering map[string]any) map[string]string {
	files := map[string]string{}
	all, _ := rendering["files"].(map[string]any)
	for path, content := range all {
		files[path], _ = content.(string)
	}
	return files
}

// buildBranches builds the folders on each branch of the GitOps repos that an example left in a folder.
func buildBranches(t *testing.T, temp string) {
	t.Helper()
	repos, err := filepath.Glob(filepath.Join(temp, "*", "gitops*"))
	if err != nil || len(repos) == 0 {
		t.Fatalf("no GitOps repo in %s: %v", temp, err)
	}
	for _, repo := range repos {
		for _, branch := range strings.Fields(gitserver.Git(t, repo, "for-each-ref", "--format=%(refname:short)",
			"refs/heads")) {
			files := map[string]string{}
			for path := range strings.Lines(gitserver.Git(t, repo, "ls-tree", "-r", "--name-only", branch)) {
				path = strings.TrimSpace(path)
				files[path] = gitserver.Git(t, repo, "show", branch+":"+path)
			}
			buildFolders(t, files)
		}
	}
}

// builtExamples lists the examples that render folders, with the tests that build them.
var builtExamples = map[string]string{
	"broken-teams":                            "TestAccExampleBrokenTeams",
	"control-plane":                           "TestAccExamplesBuild",
	"data-sources/kalypso_control_plane":      "TestAccExamplesOfReadersBuild",
	"data-sources/kalypso_promotion":          "TestAccExamplesOfReadersBuild",
	"data-sources/kalypso_workloads":          "TestAccExamplesOfReadersBuild",
	"clusters":                                "TestAccExampleClusters",
	"deployment-state":                        "TestAccExampleDeploymentState",
	"observability":                           "TestAccExampleObservability",
	"promotion":                               "TestAccExamplePromotion",
	"modules/environment":                     "TestAccModuleEnvironment",
	"platform":                                "TestAccPlatform",
	"quickstart":                              "TestAccExamplesBuild",
	"reconcilers":                             "TestAccExampleReconcilers",
	"renderings/chain":                        "TestAccExamplesOfReadersBuild",
	"renderings/large":                        "TestAccExamplesOfReadersBuild",
	"renderings/manifests":                    "TestAccExamplesOfReadersBuild",
	"renderings/none":                         "TestAccExamplesOfReadersBuild",
	"renderings/operator-adopt":               "TestAccExamplesOfReadersBuild",
	"renderings/operator-shadow":              "TestAccExamplesOfReadersBuild",
	"renderings/promotion":                    "TestAccExamplesOfReadersBuild",
	"renderings/review":                       "TestAccExamplesOfReadersBuild",
	"resources/kalypso_environment_rendering": "TestAccExamplesBuild",
	"rollout":                                 "TestAccExampleRollout",
	"schedulers/placement-decisions":          "TestAccSchedulerPlacementDecisions",
	"schedulers/program":                      "TestAccSchedulerProgram",
	"schedulers/simulation":                   "TestAccSchedulerSimulation",
	"secrets":                                 "TestAccSOPS",
	"testing":                                 "TestAccExamplesBuild",
}

var (
	rendersFolders = regexp.MustCompile(`(?m)^ *resource "kalypso_environment_rendering"`)
	buildsFolders  = regexp.MustCompile(`(buildFolders|buildBranches|expectClusterTypes)\(`)
)

// For each example that renders folders, a test builds these folders.
func TestExamplesThatRenderAreBuilt(t *testing.T) {
	rendering := map[string]bool{}
	for _, folder := range exampleFolders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if rendersFolders.MatchString(acc.ReadFile(t, file)) {
				name, err := filepath.Rel(acc.Examples, folder)
				if err != nil {
					t.Fatal(err)
				}
				rendering[filepath.ToSlash(name)] = true
			}
		}
	}
	built := slices.Sorted(maps.Keys(builtExamples))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(rendering)), built); diff != "" {
		t.Errorf("examples that render, and that are built (-render +built):\n%s", diff)
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, file := range tests {
		code += acc.ReadFile(t, file)
	}
	for example, test := range builtExamples {
		_, body, _ := strings.Cut(code, "\nfunc "+test+"(t *testing.T) {\n")
		body, _, _ = strings.Cut(body, "\n}\n")
		if !buildsFolders.MatchString(body) {
			t.Errorf("no test %s builds the folders of %s", test, example)
		}
	}
}

// Clusters can apply the folders of the examples that need no server.
func TestAccExamplesBuild(t *testing.T) {
	t.Parallel()
	for folder, name := range map[string]string{
		"quickstart": "this", "testing": "this", "resources/kalypso_environment_rendering": "dev",
	} {
		r := acc.NewExample(t, filepath.Join(acc.Examples, folder))
		r.Env = append(r.Env, "TF_VAR_gitops_repo_url=file://"+gitserver.InitBare(t))
		showFiles(r, name)
		r.Write("import-by-string-id.tf", "") // the example of the resource reads from a server
		r.Apply()
		buildFolders(t, renderedFiles(r.State()["kalypso_environment_rendering."+name]))
	}
	buildFolders(t, acc.ReadTree(t, filepath.Join(acc.Examples, "control-plane", "repos", "gitops", "dev")))
}

// readersFleet returns the objects of examples/control-plane for an environment, each file under its path.
func readersFleet(t *testing.T, environment string) map[string]string {
	t.Helper()
	fleet := map[string]string{}
	for _, part := range []string{"control-plane/main/templates", "control-plane/dev/cluster-types",
		"control-plane/dev/configs", "control-plane/dev/scheduling", "shop/main/workload"} {
		for path, content := range acc.ReadTree(t, filepath.Join(acc.Examples, "control-plane/repos", part)) {
			fleet[part+"/"+path] = strings.ReplaceAll(content, "environment: dev", "environment: "+environment)
		}
	}
	return fleet
}

// readersExamples lists the examples that render files or repos that their reader must have.
var readersExamples = []struct {
	folder, name, environment string
	files                     string // the folder of the reader's files
	override                  string // configuration that reads REPO in place of the reader's repo
}{
	{folder: "renderings/review", name: "prod", environment: "prod", files: "fleet"},
	{folder: "renderings/none", name: "dev", environment: "dev", files: "fleet"},
	{folder: "renderings/large", name: "prod", environment: "prod", files: "fleet"},
	{folder: "renderings/manifests", name: "dev", environment: "dev", files: "control-plane/main"},
	{folder: "renderings/promotion", name: "stage", environment: "stage", files: "control-plane/main"},
	{folder: "renderings/operator-shadow", name: "dev", environment: "dev", override: controlPlaneOfReader("dev")},
	{folder: "renderings/operator-adopt", name: "dev", environment: "dev", override: controlPlaneOfReader("dev")},
	{folder: "renderings/chain", name: "this", environment: "default", override: controlPlaneOfReader("this")},
	{
		folder: "data-sources/kalypso_control_plane", name: "this", environment: "default",
		override: controlPlaneOfReader("this"),
	},
	{
		folder: "data-sources/kalypso_promotion", name: "prod", environment: "prod", override: controlPlaneOfReader("prod"),
	},
	{folder: "data-sources/kalypso_workloads", name: "dev", environment: "dev", override: `
resource "kalypso_workload_registration" "all" {
  for_each = { hello-world-app = { repo = "REPO", workspace = "kaizen-app-team" } }
  workload = { repo = each.value.repo, branch = "main", path = "shop/main/workload" }
}

data "kalypso_workloads" "dev" {
  on_error    = null
  gitops_repo = null
}

provider "kalypso" {
  allow_local_repos = true
}
`},
}

// controlPlaneOfReader returns configuration that lets a rendering read the head of REPO, without a promotion.
func controlPlaneOfReader(rendering string) string {
	return strings.ReplaceAll(`
data "kalypso_control_plane" "NAME" {
  repo      = "REPO"
  branch    = "main"
  promotion = null
}

resource "kalypso_environment_rendering" "NAME" {
  gitops_repo     = null
  promotion       = null
  promoted_commit = null
}
`, "NAME", rendering)
}

// Clusters can apply the folders of the examples that render the reader's files or repos, with the fleet of
// examples/control-plane in their place.
func TestAccExamplesOfReadersBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range readersExamples {
		t.Run(tt.folder, func(t *testing.T) {
			t.Parallel()
			r := acc.NewExample(t, filepath.Join(acc.Examples, filepath.FromSlash(tt.folder)))
			fleet := readersFleet(t, tt.environment)
			repo := gitserver.InitBare(t)
			gitserver.Seed(t, repo, "main", fleet)
			if tt.files != "" {
				for path, content := range fleet {
					r.Write(tt.files+"/"+path, content)
				}
			}
			r.Write("reader_override.tf", strings.ReplaceAll(tt.override, "REPO", "file://"+repo))
			showFiles(r, tt.name)
			r.Env = append(r.Env, "TF_VAR_github_token=none", "TF_VAR_promoted_commit="+strings.Repeat("1", 40))
			r.Apply("-target=kalypso_environment_rendering." + tt.name)
			buildFolders(t, renderedFiles(r.State()["kalypso_environment_rendering."+tt.name]))
		})
	}
}

// definitionsOf returns the JSON Schemas of custom resources by apiVersion and kind, from their definitions.
func definitionsOf(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all := map[string]*jsonschema.Schema{}
	compile := func(id string, schema any) {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:"+id, schema); err != nil {
			t.Fatal(err)
		}
		var err error
		all[id], err = c.Compile("mem:" + id)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range apiserver.CRDs(
		t, apiserver.Kustomizations, apiserver.GitRepositories, apiserver.OCIRepositories, apiserver.Applications,
	) {
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Served bool
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(acc.ReadFile(t, file)), &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Served {
				compile(crd.Spec.Group+"/"+v.Name+" "+crd.Spec.Names.Kind, closed(v.Schema.OpenAPIV3Schema))
			}
		}
	}
	var zarf any
	if err := json.Unmarshal([]byte(acc.ReadFile(t, apiserver.CRDs(t, apiserver.ZarfSchema)[0])), &zarf); err != nil {
		t.Fatal(err)
	}
	compile("zarf.dev/v1alpha1 ZarfPackageConfig", zarf)
	compile("fleet.cattle.io/v1alpha1 Bundle", map[string]any{
		"required": []any{"apiVersion", "kind", "metadata", "spec"},
		"properties": map[string]any{"spec": map[string]any{
			"required": []any{"resources", "targets"}, "additionalProperties": false,
			"properties": map[string]any{
				"dependsOn": map[string]any{"type": "array", "items": map[string]any{
					"required": []any{"selector"}, "additionalProperties": false,
					"properties": map[string]any{"selector": map[string]any{"type": "object"}},
				}},
				"targets":   map[string]any{"type": "array"},
				"resources": map[string]any{"type": "array", "items": map[string]any{"required": []any{"name", "content"}}},
			},
		}},
	})
	// These are the fields of Fleet's GitRepoSpec (rancher/fleet, pkg/apis/fleet.cattle.io/v1alpha1) that clusters need.
	compile("fleet.cattle.io/v1alpha1 GitRepo", map[string]any{
		"required": []any{"apiVersion", "kind", "metadata", "spec"},
		"properties": map[string]any{"spec": map[string]any{
			"required": []any{"repo", "branch", "paths"}, "additionalProperties": false,
			"properties": map[string]any{
				"repo": map[string]any{"type": "string", "minLength": 1.0}, "branch": map[string]any{"type": "string",
					"minLength": 1.0},
				"paths": map[string]any{
					"type":  "array",
					"items": map[string]any{"type": "string", "pattern": "^[^.]"},
				},
				"targetNamespace": map[string]any{"type": "string"}, "clientSecretName": map[string]any{"type": "string"},
				"targets": map[string]any{"type": "array"},
			},
		}},
	})
	return all
}

// closed changes a definition so that it refuses unknown fields, as a server-side apply by Flux or Argo CD does.
func closed(schema map[string]any) any {
	properties, ok := schema["properties"].(map[string]any)
	if ok && schema["x-kubernetes-preserve-unknown-fields"] == nil && schema["additionalProperties"] == nil {
		schema["additionalProperties"] = false
	}
	for name, p := range properties {
		if nested, ok := p.(map[string]any); ok && name != "metadata" {
			properties[name] = closed(nested)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		schema["items"] = closed(items)
	}
	return schema
}

// checkDefinitions validates objects against their definitions, and returns how many it validated.
func checkDefinitions(t *testing.T, definitions map[string]*jsonschema.Schema, objects []map[string]any) (checked int) {
	t.Helper()
	for _, object := range objects {
		apiVersion, _ := object["apiVersion"].(string)
		kind, _ := object["kind"].(string)
		if kind == "Namespace" || kind == "ConfigMap" {
			continue
		}
		definition := definitions[apiVersion+" "+kind]
		if definition == nil {
			t.Errorf("no definition of %s %s", apiVersion, kind)
			continue
		}
		checked++
		var plain any // with the number type of JSON
		if err := json.Unmarshal([]byte(acc.ToJSON(t, object)), &plain); err != nil {
			t.Fatal(err)
		}
		if err := definition.Validate(plain); err != nil {
			t.Errorf("%s %s: %v", apiVersion, kind, err)
		}
	}
	return checked
}

// examples/reconcilers has templates for each reconciler. Clusters can apply their folders, and each object has all
// fields that its definition requires, and no unknown fields.
func TestAccExampleReconcilers(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "reconcilers"))
	r.Apply()
	r.ExpectEmptyPlan()
	files := renderedFiles(r.State()["kalypso_environment_rendering.this"])
	folders := buildFolders(t, files)
	definitions := definitionsOf(t)
	for folder, want := range map[string]int{"flux": 6, "argocd": 3, "fleet": 3, "zarf": 3} {
		if checked := checkDefinitions(t, definitions, folders[folder]); checked != want {
			t.Errorf("%s: %d objects of the reconciler, want %d", folder, checked, want)
		}
	}
	for file, want := range map[string]string{
		"flux/shop-blue/reconciler.yaml":    "  dependsOn:\n  - name: redis-main\n",
		"argocd/shop-green/reconciler.yaml": "    argocd.argoproj.io/sync-wave: \"1\"\n",
		"fleet/shop-blue/reconciler.yaml":   "        fleet.cattle.io/repo-name: redis-main\n",
		"fleet/redis-main/reconciler.yaml":  "kind: GitRepo\n",
	} {
		if !strings.Contains(files[file], want) {
			t.Errorf("%s does not contain %q:\n%s", file, want, files[file])
		}
	}
	if files["zarf/shop-blue/zarf.yaml"] == "" || files["zarf/shop-blue/reconciler.yaml"] != "" {
		t.Errorf("files of Zarf: %v", slices.Sorted(maps.Keys(files)))
	}
}

// Objects of cluster_sync have all fields that their definitions require, and no unknown fields.
func TestClusterSyncDefinitions(t *testing.T) {
	folder := clustersync.SyncedFolder{
		Repo: "https://github.com/acme/gitops", Branch: "dev", Repository: "oci://localhost:5000/dev", Path: "large",
	}
	definitions := definitionsOf(t)
	for _, kind := range clustersync.Kinds {
		options := clustersync.Options{Secret: "key"}
		if kind == clustersync.Flux || kind == clustersync.FluxOCI {
			options.Decryption = "sops"
		}
		if kind == clustersync.FluxOCI {
			options.Verify = "cosign"
		}
		objects, err := clustersync.Objects(kind, folder, options)
		if err != nil {
			t.Fatal(err)
		}
		if checked := checkDefinitions(t, definitions, objects); checked != len(objects) {
			t.Errorf("%s: %d of %d objects are checked", kind, checked, len(objects))
		}
	}
}
