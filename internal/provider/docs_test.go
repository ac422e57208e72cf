package provider_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// docsPages returns the pages of docs/, by their names in the Registry.
func docsPages(t *testing.T) map[string]string {
	t.Helper()
	const root = "../../docs"
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		pages[strings.TrimSuffix(filepath.ToSlash(name), ".md")] = acc.ReadFile(t, path)
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages
}

// TestDocsFrontMatter checks that each page begins with the title and the description that the Registry shows.
func TestDocsFrontMatter(t *testing.T) {
	for name, page := range docsPages(t) {
		text, found := strings.CutPrefix(page, "---\n")
		text, _, ended := strings.Cut(text, "\n---\n")
		var front struct {
			Title       string `json:"page_title"`
			Description string `json:"description"`
			Subcategory string `json:"subcategory"`
		}
		if err := yaml.UnmarshalStrict([]byte(text), &front); err != nil || !found || !ended {
			t.Errorf("%s: the front matter is no YAML between two lines ---: %v", name, err)
		} else if front.Title == "" || strings.TrimSpace(front.Description) == "" {
			t.Errorf("%s lacks a title or a description", name)
		}
	}
}

// requiredIn returns the list of required arguments in a section of the docs.
func requiredIn(section string) string {
	_, required, _ := strings.Cut(section, "\nRequired:\n\n")
	required, _, _ = strings.Cut(required, "\n\n")
	return required
}

// TestDocsRequired checks that no argument is listed as optional if its description says Required, and that the objects
// of a fleet link to the pages of their resources, which list the required arguments.
func TestDocsRequired(t *testing.T) {
	pages := docsPages(t)
	called := regexp.MustCompile(`(?m)^- .* Required\.( \(see .*)?$`)
	for name, page := range pages {
		for _, line := range called.FindAllString(page, -1) {
			t.Errorf("%s lists an argument as optional, and describes it as required: %s", name, line)
		}
	}
	for _, name := range []string{"resources/environment_rendering", "data-sources/assignments"} {
		for attribute, resource := range map[string]string{
			"cluster_types": "cluster_type", "templates": "template", "configs": "config", "config_schemas": "config_schema",
			"secrets": "secret", "scheduling_policies": "scheduling_policy", "workloads": "workload",
		} {
			_, line, _ := strings.Cut(pages[name], "\n- `"+attribute+"` ")
			line, _, _ = strings.Cut(line, "\n")
			if !strings.Contains(line, "[`kalypso_"+resource+"`](../resources/"+resource+".md)") {
				t.Errorf("%s: %s does not lead to kalypso_%s: %s", name, attribute, resource, line)
			}
		}
	}
	_, destination, _ := strings.Cut(pages["resources/environment_rendering"], `<a id="nestedatt--gitops_repo"></a>`)
	for _, name := range []string{"repo", "branch"} {
		if !strings.Contains(requiredIn(destination), "- `"+name+"` ") {
			t.Errorf("gitops_repo does not say that %s is required", name)
		}
	}
}

// TestDocsLength limits the length of the two longest pages. The first group of their optional arguments contains the
// arguments that everyone sets.
func TestDocsLength(t *testing.T) {
	pages := docsPages(t)
	for name, page := range map[string]struct {
		words int
		first string
	}{
		"resources/environment_rendering": {4_000, "The fleet:\n\n- `cluster_types`"},
		"data-sources/assignments":        {2_000, "The questions:\n\n- `why`"},
	} {
		if words := len(strings.Fields(pages[name])); words > page.words {
			t.Errorf("%s has %d words, and should have at most %d", name, words, page.words)
		}
		if !strings.Contains(pages[name], "### Optional\n\n"+page.first) {
			t.Errorf("the optional arguments of %s do not begin with %q", name, page.first)
		}
	}
}

// TestExamplePipelines checks that the files of examples/pipelines are YAML. The pipelines of a fleet have three jobs.
func TestExamplePipelines(t *testing.T) {
	pipelines := 0
	for _, file := range acc.Glob(t, "../../examples/pipelines/*.y*ml") {
		text := acc.ReadFile(t, file)
		var content any
		if err := yaml.UnmarshalStrict([]byte(text), &content); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		switch filepath.Base(file) {
		case "azure-entra.yml", "fleet-page.yaml", "promote.yaml": // a step, and pipelines that deliver no fleet
			continue
		}
		pipelines++
		for _, job := range []string{"plan", "apply", "drift"} {
			if !strings.Contains(text, job+":\n") && !strings.Contains(text, "stage: "+job+"\n") {
				t.Errorf("%s has no job %s", file, job)
			}
		}
	}
	if pipelines != 4 {
		t.Errorf("%d pipelines, want 4", pipelines)
	}
}

// TestPromotionWorkflow checks that the workflow of promotions is YAML, and that it runs for each environment.
func TestPromotionWorkflow(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Environment, Concurrency string
			Steps                    []map[string]any
		}
	}
	if err := yaml.Unmarshal([]byte(acc.ReadFile(t, "../../examples/pipelines/promote.yaml")), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report", "render"} {
		job := workflow.Jobs[name]
		if len(job.Steps) < 4 || !strings.Contains(job.Environment+job.Concurrency, "matrix.environment") {
			t.Errorf("job %s: %+v", name, job)
		}
	}
}

// The README and the first guide say what to do until the provider is in a registry, before the step terraform
// init. make test-install does it.
func TestDocsNotInRegistry(t *testing.T) {
	for _, file := range []string{"../../README.md", "../../docs/guides/first-fleet.md"} {
		text := strings.Join(strings.Fields(acc.ReadFile(t, file)), " ")
		before, advice, found := strings.Cut(text, "Until the provider is in a registry,")
		if !found || strings.Contains(before, "terraform init") {
			t.Errorf("%s does not say what to do until the provider is in a registry, before it runs terraform init", file)
		}
		advice = advice[:min(len(advice), 300)]
		for _, want := range []string{"`make install`", "`terraform init`"} {
			if !strings.Contains(advice, want) {
				t.Errorf("%s: no %s in: %s", file, want, advice)
			}
		}
	}
	if !regexp.MustCompile(`(?m)^install:`).MatchString(acc.ReadFile(t, "../../GNUmakefile")) {
		t.Error("make has no target install")
	}
}

// A reader of the operator's guide can plan after its first step: it declares where the provider comes from before any
// other configuration and any command of Terraform.
func TestDocsRequiredProvidersFirst(t *testing.T) {
	text := acc.ReadFile(t, "../../docs/guides/from-the-operator.md")
	first := acc.Fenced.FindStringSubmatch(text)
	if first == nil || first[1] != "terraform" || !strings.Contains(first[2], "required_providers") ||
		!strings.Contains(first[2], `source = "terraform-kalypso/kalypso"`) {
		t.Errorf("the guide's first block does not declare the provider: %q", first)
	}
}
