package comparison

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// FuzzReadConfig: the values of a config and its rest are not much longer than the file, and the same file is read in
// the same way again. A file that is no config is its own rest.
func FuzzReadConfig(f *testing.F) {
	for _, text := range []string{
		"kind: ConfigMap\ndata: {A: x, B: [1], C: \"\\x41\"}\nmetadata: {name: a}\n", "kind: ConfigMap\ndata: &a\n  A: *a\n",
		"kind: ConfigMap\ndata: {A: x}\n---\nkind: ConfigMap\ndata: {A: y, B: z}\n", "kind: ConfigMap\ndata: [1, 2]\n",
		"kind: [ConfigMap]\ndata: {? [a] : b, ? {c: d} : e}\n", "kind: ConfigMap\nkind: Secret\ndata: {A: x, A: y}\n",
		"export A=\"x\"\nB='y'\nA=z\n# c\nD=$(x)\n=e\n", "a: [", "\xff", "", "---\n---\n", "A=\"\nB='", "%YAML 9.9\n---\na",
		strings.Repeat("? ", 1000) + "x", strings.Repeat("- ? ", 500) + "x", strings.Repeat("[", 2000),
	} {
		f.Add("a.yaml", text)
		f.Add("a.sh", text)
	}
	f.Fuzz(func(t *testing.T, name, content string) {
		c := readConfig(name, content)
		if len(c.rest) > max(maxRest, len(content)) {
			t.Errorf("the rest of %d bytes has %d bytes", len(content), len(c.rest))
		}
		if len(c.values) == 0 && c.rest != content {
			t.Errorf("%q has no values, and the rest %q", content, c.rest)
		}
		length := 0
		for key, value := range c.values {
			length += len(key) + len(value)
		}
		if length > 2*len(content) { // YAML writes \L for the three bytes of a line separator
			t.Errorf("%d bytes have values of %d bytes", len(content), length)
		}
		if diff := cmp.Diff(c, readConfig(name, content), cmp.AllowUnexported(config{})); diff != "" {
			t.Errorf("%q is read in another way again:\n%s", content, diff)
		}
	})
}

// FuzzHiddenSecrets: no value that a comparison shows contains a text that is a secret in another file of the
// comparison, whatever stands around it. In the fuzzed files, @@ stands for the secret.
func FuzzHiddenSecrets(f *testing.F) {
	const secret = "Tr0ub4dor&3-canary"
	for _, text := range []string{
		"kind: ConfigMap\ndata:\n  A: @@\n", "kind: ConfigMap\ndata: {A: \"x\\n@@\", '@@': y}\n", "A=@@\nexport B='x@@'\n",
		"kind: ConfigMap\ndata:\n  A: |\n    x\n    @@\n", "kind: ConfigMap\ndata: {A: \"%25@@\\\\\", B: x@@@@y}\n", "@@=x\n",
		"kind: ConfigMap\ndata:\n  A: " + strings.Repeat("é", 995) + "@@\n", "A=\\u0040@@\\\n", "kind: Secret\ndata: {A: @@}",
	} {
		f.Add("a.yaml", text, "")
		f.Add("a.sh", text, strings.ReplaceAll(text, "@@", "none"))
	}
	f.Fuzz(func(t *testing.T, name, left, right string) {
		folder := Folder{"large", "app"}
		side := func(environment string, hash byte) Side {
			folders := map[string]map[string]gitobject.Hash{folder.ClusterType: {folder.Target: {hash}}}
			return Side{Environment: environment, Folders: folders}
		}
		c, pairs := New(side("stage", 1), side("prod", 2), Options{})
		if len(pairs) != 1 || pairs[0].Folder != folder {
			t.Fatalf("the folders are %v", pairs)
		}
		c.Add(pairs[0], name, []byte(strings.ReplaceAll(left, "@@", secret)), []byte(strings.ReplaceAll(right, "@@", secret)))
		c.Add(pairs[0], "z.yaml", []byte("kind: ConfigMap\ndata: {DB_PASSWORD: "+secret+"}\n"), []byte("kind: ConfigMap\n"))
		c.Finish()
		for _, d := range c.Configs {
			for _, shown := range []*string{&d.Key, d.Values.Left, d.Values.Right} {
				if shown != nil && strings.Contains(*shown, secret) {
					t.Errorf("the value %q of %q is shown", *shown, d.Key)
				}
				if shown != nil && shown != &d.Key && len([]rune(*shown)) > maxValue+1 {
					t.Errorf("a value of %d characters is shown", len([]rune(*shown)))
				}
			}
			if len(d.Folders) == 0 {
				t.Errorf("%q differs in no folder", d.Key)
			}
		}
	})
}
