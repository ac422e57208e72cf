package functions_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// functionCall is a call of a function with the wanted result: a bool, a string, or a pattern that the error must
// match.
type functionCall struct {
	call string
	want any
}

// says returns a pattern of an error that contains a text, with line breaks anywhere.
func says(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(strings.Join(words, `[\s│]+`))
}

// testFunction evaluates all calls that succeed in one configuration, and all calls that fail in another one, since
// Terraform reports the errors of all outputs together.
func testFunction(t *testing.T, all []functionCall) {
	t.Helper()
	var valid, invalid strings.Builder
	name := func(i int) string { return fmt.Sprintf("call-%d", i) }
	for i, c := range all {
		config := &valid
		if _, fails := c.want.(*regexp.Regexp); fails {
			config = &invalid
		}
		fmt.Fprintf(config, "output %q {\n  value = %s\n}\n", name(i), c.call)
	}
	good := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": valid.String()})
	good.Apply()
	bad := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": invalid.String()})
	errors := strings.Split(bad.Terraform("plan", "-no-color").Stderr, "Error: ")
	for i, c := range all {
		if want, fails := c.want.(*regexp.Regexp); fails {
			if !slices.ContainsFunc(errors, func(text string) bool {
				return strings.Contains(text, fmt.Sprintf("in output %q:", name(i))) && want.MatchString(text)
			}) {
				t.Errorf("%s has no error %v:\n%s", c.call, want, errors)
			}
			continue
		}
		var got any
		good.Output(name(i), &got)
		if got != c.want {
			t.Errorf("%s is %#v, want %#v", c.call, got, c.want)
		}
	}
}

func TestAccNamespaceFunction(t *testing.T) {
	testFunction(t, []functionCall{
		{`provider::kalypso::namespace("dev", "large", "hello-test")`, "dev-large-hello-test"},
		{`provider::kalypso::namespace("dev", "large", "` + strings.Repeat("a", 53) + `")`,
			"dev-large-" + strings.Repeat("a", 53)},
		{`provider::kalypso::namespace("dev", "large", "` + strings.Repeat("a", 54) + `")`,
			says(`(environment "dev", cluster type "large", deployment target "` + strings.Repeat("a",
				54) + `") has 64 characters`)},
		{`provider::kalypso::namespace("dev", "large.x", "a")`, says("must not contain dots")},
	})
}

func TestAccSelectorMatchesFunction(t *testing.T) {
	call := func(selector, labels string) string {
		return "provider::kalypso::selector_matches(" + selector + ", " + labels + ")"
	}
	const expressions = `{
		match_expressions = [{ key = "a", operator = "NotIn", values = ["c"] }, { key = "n", operator = "Exists" }]
	}`
	testFunction(t, []functionCall{
		{call(`{ match_labels = { a = "b" } }`, `{ a = "b", n = 1 }`), true},
		{call(`{ match_labels = tomap({ a = "c" }) }`, `tomap({ a = "b" })`), false},
		{call(expressions, `{ n = true }`), true},
		{call(expressions, `{ a = "c", n = true }`), false},
		{call(`{ workspace = "w" }`, `{ workspace = "w" }`), true},
		{call(`{ workspace = "w", match_all = true }`, `{}`), false},
		{call(`{ match_all = true, match_labels = null, match_expressions = [] }`, `{}`), true},
		{call(`{}`, `{}`), says("Selector selects everything")},
		{call(`{ match_labels = {} }`, `{}`), says("Selector selects everything")},
		{call(`{ match_label = { a = "b" } }`, `{}`), says(`"match_label" is not one of`)},
		{call(`{ match_expressions = [{ key = "a", op = "In" }] }`, `{}`),
			says(`match_expressions[0].op: Unsupported argument`)},
		{call(`{ match_expressions = [{ key = "a", operator = "in", values = ["b"] }] }`, `{}`),
			says(`match_expressions[0].operator: Invalid operator`)},
		{call(`{ match_labels = { a = ["b"] } }`, `{}`), says(`match_labels["a"]: Wrong type`)},
		{call(`"a=b"`, `{}`), says("Expected an object")},
		{call(`{ match_all = true }`, `"a=b"`), says("Expected a map of strings")},
		{call(`{ match_all = true }`, `{ a = null }`), says(`labels["a"]: Null element`)},
	})
}

// The function returns the document of an object that is written inline, even if Terraform passes a number as a string,
// or an object as a map. TestAccModelResources tests the documents of resources.
func TestAccManifestFunction(t *testing.T) {
	call := func(object string) string { return "provider::kalypso::manifest(" + object + ")" }
	const (
		config = "apiVersion: v1\ndata:\n  a: \"1\"\nkind: ConfigMap\nmetadata:\n  labels:\n" +
			"    platform-config: \"true\"\n  name: c\n"
		policy = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata:\n  annotations:\n" +
			"    kalypso.io/placement: |\n      numberOfClusterTypes: 2\n  name: p\nspec:\n" +
			"  clusterTypeSelector:\n    labelSelector: {}\n  deploymentTargetSelector:\n    labelSelector: {}\n" +
			"    workspace: w\n"
	)
	testFunction(t, []functionCall{
		{call(`{ name = "c", data = { a = 1 } }`), config},
		{call(`{ name = "c", labels = null, data = tomap({ a = "1" }) }`), config},
		{call(`{
		name                       = "p"
		deployment_target_selector = { workspace = "w" }
		cluster_type_selector      = { match_all = true }
		placement                  = { number_of_cluster_types = 2 }
	}`), policy},
		{call(`{ name = "c", data = null }`), says("Ambiguous object: An object with the attributes data, name may be any " +
			"of kalypso_config, kalypso_secret.")},
		{call(`{ name = "l", reconciler = "r", namespace = "n" }`), says(`namespace: Unsupported attribute: "namespace" is ` +
			`not one of`)},
		{call(`{ name = "L", reconciler = "r", namespace_service = "n" }`), says("name: Invalid name")},
		{call(`"large"`), says("Expected a model resource")},
		{"issensitive(" + call(`{ name = "c", data = { a = sensitive("1") } }`) + ")", true},
	})
}

func TestAccRenderTemplateFunction(t *testing.T) {
	call := func(template, data string) string {
		return "provider::kalypso::render_template(" + template + ", " + data + ")"
	}
	testFunction(t, []functionCall{
		{call(`"x{{ \"gIA=\" | b64dec }}"`, `{}`), says("line 1 of the result is not valid UTF-8")},
		{call(`"a\n{{ trunc 1 .Workload }}"`, `{ Workload = "é" }`), says("line 2 of the result is not valid UTF-8")},
		{call(`"{{ fail (b64dec \"gIA=\") }}"`, `{}`), says(`\x80`)},
		{call(`"{{ toYaml .ConfigData.n }} {{ toJson .ConfigData.n }}"`,
			`{ ConfigData = { n = [12345678901234567890123] } }`),
			"- 12345678901234567890123 [12345678901234567890123]"},
		{call(`"{{ .Namespace }}/{{ .Labels.a }}/{{ .Manifests.repo }}"`,
			`{ Namespace = "n", Labels = { a = "b" }, Manifests = { repo = "r" } }`), "n/b/r"},
		{call(`"{{ .DeploymentTargetName }}{{ .Environment }}{{ .Workspace }}{{ .Workload }}{{ .ClusterType }}"`,
			`{}`), ""},
		{call(`"{{ toYaml .ConfigData }}"`,
			`{ ConfigData = { a = 1, b = { c = 12345678901, d = 1.5, e = [true, null, "x"] } } }`),
			"a: \"1\"\nb:\n    c: 12345678901\n    d: 1.5\n    e:\n        - true\n        - null\n        - x"},
		{call(`"{{ toYaml .ConfigData.a }}"`,
			`{ ConfigData = { a = { max = 18446744073709551615, min = -9223372036854775808 } } }`),
			"max: 18446744073709551615\nmin: -9223372036854775808"},
		{call(`{ manifests = ["a: 1", "b: 2"] }`, `{}`), "a: 1\n---\nb: 2"},
		{call(`{ manifests = ["a", "b"], content_type = "sh", name = "t", type = "config" }`, `{}`), "a\nb"},
		{call(`"{{ range .Requires }}{{ .Name }} {{ .Workload }} {{ .Namespace }} {{ .Wave }}, {{ end }}"`,
			`{ Requires = [{ Name = "a-b", Workload = "a", Namespace = "n", Wave = 2 }, { Name = "c-d" }] }`),
			"a-b a n 2, c-d   0, "},
		{call(`"{{ toYaml .Requires }}"`, `{ Requires = [{ Name = "a-b" }] }`),
			"- name: a-b\n  workload: \"\"\n  namespace: \"\""},
		{call(`"{{ .Labels.a }}"`, `{}`), says("prints a missing or null value")},
		{call(`"a\n{{ .Labels"`, `{}`), says("line 2: unclosed action")},
		{call(`"{{ env \"HOME\" }}"`, `{}`), says(`function "env" not defined`)},
		{call(`{ name = "t" }`, `{}`), says("Missing manifests")},
		{call(`"a"`, `{ Lables = {} }`), says(`"Lables" is not one of`)},
		{call(`"a"`, `{ Labels = { a = ["b"] } }`), says(`Labels["a"]: Wrong type`)},
	})
}
