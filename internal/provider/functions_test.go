package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
)

// evaluate returns a step that compares a call's result with want, or expects an error.
func evaluate(call string, want any) resource.TestStep {
	step := resource.TestStep{Config: "output \"got\" {\n  value = " + call + "\n}\n"}
	switch want := want.(type) {
	case bool:
		step.ConfigStateChecks = []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("got", knownvalue.Bool(want))}
	case string:
		step.ConfigStateChecks = []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("got",
			knownvalue.StringExact(want))}
	case *regexp.Regexp:
		step.ExpectError = want
	}
	return step
}

// says matches an error with this text, however Terraform breaks its lines.
func says(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(strings.Join(words, `[\s│]+`))
}

func testFunction(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_8_0)},
		ProtoV6ProviderFactories: factories,
		Steps:                    steps,
	})
}

func TestAccNamespaceFunction(t *testing.T) {
	testFunction(t,
		evaluate(`provider::kalypso::namespace("dev", "large", "hello-test")`, "dev-large-hello-test"),
		evaluate(`provider::kalypso::namespace("dev", "large", "`+strings.Repeat("a", 53)+`")`,
			"dev-large-"+strings.Repeat("a", 53)),
		evaluate(`provider::kalypso::namespace("dev", "large", "`+strings.Repeat("a", 54)+`")`,
			says(`(environment "dev", cluster type "large", deployment target "`+strings.Repeat("a",
				54)+`") has 64 characters`)),
		evaluate(`provider::kalypso::namespace("dev", "large.x", "a")`, says("must not contain dots")),
	)
}

func TestAccSelectorMatchesFunction(t *testing.T) {
	call := func(selector, labels string) string {
		return "provider::kalypso::selector_matches(" + selector + ", " + labels + ")"
	}
	const expressions = `{
		match_expressions = [{ key = "a", operator = "NotIn", values = ["c"] }, { key = "n", operator = "Exists" }]
	}`
	testFunction(t,
		evaluate(call(`{ match_labels = { a = "b" } }`, `{ a = "b", n = 1 }`), true),
		evaluate(call(`{ match_labels = tomap({ a = "c" }) }`, `tomap({ a = "b" })`), false),
		evaluate(call(expressions, `{ n = true }`), true),
		evaluate(call(expressions, `{ a = "c", n = true }`), false),
		evaluate(call(`{ workspace = "w" }`, `{ workspace = "w" }`), true),
		evaluate(call(`{ workspace = "w", match_all = true }`, `{}`), false),
		evaluate(call(`{ match_all = true, match_labels = null, match_expressions = [] }`, `{}`), true),
		evaluate(call(`{}`, `{}`), says("Selector selects everything")),
		evaluate(call(`{ match_labels = {} }`, `{}`), says("Selector selects everything")),
		evaluate(call(`{ match_label = { a = "b" } }`, `{}`), says(`"match_label" is not one of`)),
		evaluate(call(`{ match_expressions = [{ key = "a", op = "In" }] }`, `{}`),
			says(`match_expressions[0].op: Unsupported argument`)),
		evaluate(call(`{ match_expressions = [{ key = "a", operator = "in", values = ["b"] }] }`, `{}`),
			says(`match_expressions[0].operator: Invalid operator`)),
		evaluate(call(`{ match_labels = { a = ["b"] } }`, `{}`), says(`match_labels["a"]: Wrong type`)),
		evaluate(call(`"a=b"`, `{}`), says("Expected an object")),
		evaluate(call(`{ match_all = true }`, `"a=b"`), says("Expected a map of strings")),
		evaluate(call(`{ match_all = true }`, `{ a = null }`), says(`labels["a"]: Null element`)),
	)
}

func TestAccRenderTemplateFunction(t *testing.T) {
	call := func(template, data string) string {
		return "provider::kalypso::render_template(" + template + ", " + data + ")"
	}
	testFunction(t,
		evaluate(call(`"{{ .Namespace }}/{{ .Labels.a }}/{{ .Manifests.repo }}"`,
			`{ Namespace = "n", Labels = { a = "b" }, Manifests = { repo = "r" } }`), "n/b/r"),
		evaluate(call(`"{{ .DeploymentTargetName }}{{ .Environment }}{{ .Workspace }}{{ .Workload }}{{ .ClusterType }}"`,
			`{}`), ""),
		evaluate(call(`"{{ toYaml .ConfigData }}"`,
			`{ ConfigData = { a = 1, b = { c = 12345678901, d = 1.5, e = [true, null, "x"] } } }`),
			"a: \"1\"\nb:\n    c: 12345678901\n    d: 1.5\n    e:\n        - true\n        - null\n        - x"),
		evaluate(call(`"{{ toYaml .ConfigData.a }}"`,
			`{ ConfigData = { a = { max = 18446744073709551615, min = -9223372036854775808 } } }`),
			"max: 18446744073709551615\nmin: -9223372036854775808"),
		evaluate(call(`{ manifests = ["a: 1", "b: 2"] }`, `{}`), "a: 1\n---\nb: 2"),
		evaluate(call(`{ manifests = ["a", "b"], content_type = "sh", name = "t", type = "config" }`, `{}`), "a\nb"),
		evaluate(call(`"{{ .Labels.a }}"`, `{}`), says("prints a missing or null value")),
		evaluate(call(`"a\n{{ .Labels"`, `{}`), says("line 2: unclosed action")),
		evaluate(call(`"{{ env \"HOME\" }}"`, `{}`), says(`function "env" not defined`)),
		evaluate(call(`{ name = "t" }`, `{}`), says("Missing manifests")),
		evaluate(call(`"a"`, `{ Lables = {} }`), says(`"Lables" is not one of`)),
		evaluate(call(`"a"`, `{ Labels = { a = ["b"] } }`), says(`Labels["a"]: Wrong type`)),
	)
}
