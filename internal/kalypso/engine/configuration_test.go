package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfiguration builds the base fleet with configs, and compares the values of its assignment.
func TestConfiguration(t *testing.T) {
	config := func(name, labels, data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: '" + name + "'\n  labels: {" + labels + "}\n" +
			"data:\n" + data + "---\n"
	}
	const platform = `platform-config: "true"`
	tests := []struct{ name, input, want string }{
		{"no configs", "", "{}"},
		{"configs with labels", config("1", platform, "  ALL: x\n") +
			config("2", platform+", region: west", "  CLUSTER: x\n") + config("3", platform+", region: east", "  NOT: x\n") +
			config(
				"4",
				platform+", purpose: test",
				"  TARGET: x\n",
			) + config("5", platform+", region: west, purpose: perf", "  NOT: x\n") +
			config("6", platform+", region: west, purpose: test", "  BOTH: x\n") +
			config("7", `platform-config: "false"`, "  NOT: x\n") + config("8", "region: west", "  NOT: x\n"),
			"ALL: x\nBOTH: x\nCLUSTER: x\nTARGET: x"},
		{
			"configs with the names of a cluster type, target or workload",
			config(
				"1",
				platform+", cluster-type: large",
				"  CT: x\n",
			) + config(
				"2",
				platform+", cluster-type: small",
				"  NOT: x\n",
			) +
				config(
					"3",
					platform+", deployment-target: app-test",
					"  DT: x\n",
				) + config(
				"4",
				platform+", deployment-target: "+
					"test",
				"  NOT: x\n",
			) +
				config(
					"5",
					platform+", workload: app",
					"  W: x\n",
				) + config(
				"6",
				platform+", workload: other",
				"  NOT: x\n",
			) +
				config(
					"7",
					platform+", cluster-type: ''",
					"  NOT: x\n",
				),
			"CT: x\nDT: x\nW: x",
		},
		{
			"a label of the workload and of the target",
			config("1", platform+", team: blue", "  BLUE: x\n") + config("2", platform+", team: red", "  NOT: x\n"),
			"BLUE: x",
		},
		{
			"an empty value where the label is missing",
			config("1", platform+", edge: ''", "  NONE: x\n") + config("2", platform+", region: ''", "  TARGET_HAS_NONE: x\n") +
				config(
					"3",
					platform+", workspace: ''",
					"  NO_WORKSPACE: x\n",
				) + config("4", platform+", purpose: ''", "  CLUSTER_HAS_NONE: x\n"),
			"CLUSTER_HAS_NONE: x\nNO_WORKSPACE: x\nNONE: x\nTARGET_HAS_NONE: x",
		},
		{"Flux's owner labels", config("1", platform+", kustomize.toolkit.fluxcd.io/name: a, "+
			"kustomize.toolkit.fluxcd.io/namespace: b", "  A: x\n"), "A: x"},
		{
			"names that sort bytewise",
			config(
				"a",
				platform,
				"  A: a\n",
			) + config(
				"10",
				platform,
				"  A: ten\n",
			) + config(
				"9",
				platform,
				"  A: nine\n",
			) + config(
				"a.b",
				platform,
				"  A: dot\n",
			) + config(
				"a-b",
				platform,
				"  A: dash\n",
			),
			"A: dot",
		},
		{"values in quotes", config("1", platform, `  A: "'007'"
  B: "  '{a: 1}' "
  C: "''twice''"
  D: "'"
  E: "'it''s'"
  F: '"double"'
  G: "''"
  H: "'open"
`), "A: \"007\"\nB: '{a: 1}'\nC: twice\nD: ''''\nE: it''s\nF: '\"double\"'\nG: \"\"\nH: '''open'"},
		{"scalars, which are text", config("1", platform, `  A: "1"
  B: "yes"
  C: "0755"
  D: "1.50"
  E: "null"
  F: "2024-01-02"
  G: "http://h:80/p"
  H: "a: b: c"
  I: "# comment"
  J: "  padded "
  K: ""
  L: "- "
  M: "key:value"
  O: "{[x]: 1}"
`), "A: \"1\"\nB: \"yes\"\nC: \"0755\"\nD: \"1.50\"\nE: \"null\"\nF: \"2024-01-02\"\n" +
			"G: http://h:80/p\nH: 'a: b: c'\nI: '# comment'\nJ: '  padded '\nK: \"\"\n" +
			"L:\n    - null\nM: key:value\nO: '{[x]: 1}'"},
		{"maps and lists of YAML 1.1", config("1", platform, `  A: "{on: off, 1: 0o7, 2.5: 010, ~: y}"
  B: "{big: 12345678901234567890, neg: -9223372036854775808, f: 1e3, inf: .inf, d: 2024-01-02, b: 1_000, s: 1:30}"
  C: "[~, yes, 'yes', 0x1F, 1.0]"
  D: "{a: &x {b: 1}, c: *x}"
  E: "{<<: {a: 1}, b: 2}"
  F: "a: 1\n---\nb: 2\n"
  G: "? k\n: v\n"
`), `A:
    "1": 7
    "2.5": 8
    "null": true
    "true": false
B:
    b: 1000
    big: 12345678901234567890
    d: "2024-01-02"
    f: 1000
    inf: .inf
    neg: -9223372036854775808
    s: "1:30"
C:
    - null
    - true
    - "yes"
    - 31
    - 1
D:
    a:
        b: 1
    c:
        b: 1
E:
    a: 1
    b: 2
F: |
    a: 1
    ---
    b: 2
G:
    k: v`},
		{
			"maps with common keys",
			config(
				"1",
				platform,
				"  A: '{a: {x: 1, l: [1]}, b: 1, c: [1]}'\n",
			) + config(
				"2",
				platform,
				"  A: '{a: {y: 2, l: [2]}, b: {z: 1}, c: x}'\n",
			),
			"A:\n    a:\n        l:\n            - 1\n            - 2\n        \"true\": 2\n        x: 1\n    b:\n        z: " +
				"1\n    c: x",
		},
		{
			"lists with named and other elements",
			config("1", platform, "  A: '[{name: a, v: 1, l: [1]}, {name: b}, {name: a, w: 1}, one, {v: 0}]'\n") +
				config("2", platform,
					"  A: '[one, {name: a, v: 2, l: [2]}, {name: c}, {name: c, v: 3}, {v: 0}, {name: ~, v: 4}]'\n"),
			`A:
    - l:
        - 1
        - 2
      name: a
      v: 2
    - name: b
    - name: a
      w: 1
    - one
    - v: 0
    - one
    - name: c
      v: 3
    - v: 0
    - name: null
      v: 4`,
		},
		{"values of different types",
			config("1", platform, "  A: '{a: 1}'\n  B: '[1]'\n  C: text\n  D: '{a: 1}'\n  E: '{a: 1}'\n") +
				config("2", platform, "  A: text\n  B: '{a: 1}'\n  C: '[1]'\n  D: ''\n  E: \"'{a: 2}'\"\n"),
			"A: text\nB:\n    a: 1\nC:\n    - 1\nD: \"\"\nE: '{a: 2}'"},
		{"keys with paths in an azure-app-config", config("1", platform, "  A: platform\n  M: '{a: 1, l: [1]}'\n") +
			config("azure-app-config", "region: nowhere", `  A: azure
  B: plain
  region.west.B: west
  region.west.purpose.test.B: both
  region.east.B: "not"
  cluster-type.large.C: ct
  cluster-type.small.C: "not"
  deployment-target.app-test.D: dt
  workload.app.E: w
  odd.F: odd
  region.west.odd.G: odd pair
  region.east.odd.G: "not"
  M: "{b: 2, l: [2]}"
  size.large.M: "{l: [3]}"
  Q: "'1'"
`), "A: azure\nB: both\nC: ct\nD: dt\nE: w\nF: odd\nG: odd pair\n" +
			"M:\n    a: 1\n    b: 2\n    l:\n        - 1\n        - 2\n        - 3\nQ: \"1\""},
		{
			"several azure-app-configs with keys of different lengths",
			config(
				"azure-app-config-b",
				"",
				"  A: b\n  region.west.B: b long\n  region.west.C: 'x'\n  purpose.test.C: longer\n",
			) +
				config(
					"azure-app-config-a",
					"",
					"  A: a\n  size.large.region.west.B: a longest\n",
				) + config(
				"azure-app",
				"",
				"  NOT: x\n",
			),
			"A: b\nB: b long\nC: longer",
		},
		{
			"an azure-app-config with the label of platform configs",
			config("azure-app-config", platform+", region: east", "  region.west.A: x\n"),
			"A: x",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			built, problems := build(t.Context(), read(t, "dev", base, tt.input))
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"large/app-test/reconciler.yaml":      "r: app-test",
				"large/app-test/namespace.yaml":       "n: dev-large-app-test",
				"large/app-test/platform-config.yaml": tt.want,
			}
			if d := cmp.Diff(want, filesOf(built)); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
		})
	}
}
