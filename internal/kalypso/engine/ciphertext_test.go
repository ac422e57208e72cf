package engine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// TestCiphertext: a template copies a document of SOPS or a SealedSecret byte for byte, and a config copies their
// values. Neither is reported as a plain-text secret.
func TestCiphertext(t *testing.T) {
	t.Parallel()
	for file, value := range map[string]*regexp.Regexp{
		"sops.yaml":          regexp.MustCompile(`ENC\[AES256_GCM,.*\]`),
		"sealed-secret.yaml": regexp.MustCompile(`AgB[A-Za-z0-9+/=]+`),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "ciphertext", file))
			if err != nil {
				t.Fatal(err)
			}
			document := string(data)
			ciphertexts := value.FindAllString(document, -1)
			if len(ciphertexts) < 2 {
				t.Fatalf("%d ciphertexts in\n%s", len(ciphertexts), document)
			}

			f := read(t, "dev", base)
			i := slices.IndexFunc(f.Templates, func(t *fleet.Template) bool { return t.Type == fleet.TemplateConfig })
			f.Templates[i].Manifests = []string{document}
			if diff := cmp.Diff(document, configFile(t, f)); diff != "" {
				t.Errorf("the document in a template (-want +got):\n%s", diff)
			}

			f = read(t, "dev", base)
			f.ClusterTypes[0].ConfigType = ""
			values := map[string]string{"DOCUMENT": "'" + document + "'"}
			for n, text := range ciphertexts {
				values["K"+strings.Repeat("x", n)] = text
			}
			f.Configs = []*fleet.Config{{Meta: fleet.Meta{Name: "c", Labels: map[string]string{"platform-config": "true"}},
				Data: values}}
			var got struct{ Data map[string]string }
			if err := yaml.Unmarshal([]byte(configFile(t, f)), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for k, v := range values {
				want[k] = strings.Trim(v, "'")
				if is := secretscan.Find(k, v); is != "" {
					t.Errorf("%s is taken for %s", k, is)
				}
			}
			if diff := cmp.Diff(want, got.Data); diff != "" {
				t.Errorf("the values in a config (-want +got):\n%s", diff)
			}
		})
	}
}

func configFile(t *testing.T, f *fleet.Fleet) string {
	t.Helper()
	built, problems := build(t.Context(), f)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return filesOf(built)["large/app-test/platform-config.yaml"]
}
