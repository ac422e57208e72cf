package secretscan_test

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// TestPublishedFormats checks that at least 95% of the secrets in published formats are found, and that at most 3% of
// the harmless values of platform configs are taken for secrets. The values do not come from the detector's patterns:
// see testdata/README.md.
func TestPublishedFormats(t *testing.T) {
	t.Parallel()
	secrets, found := published(t, "secrets.txt"), 0
	for _, s := range secrets {
		if secretscan.Find(s.key, s.text) == "" {
			t.Logf("not found: %s = %q", s.key, s.text)
			continue
		}
		found++
	}
	values, wrong := published(t, "harmless.txt"), 0
	for _, s := range values {
		if is := secretscan.Find(s.key, s.text); is != "" {
			wrong++
			t.Logf("%s = %q is taken for %s", s.key, s.text, is)
		}
	}
	t.Logf("found %d of %d secrets; %d of %d harmless values are taken for secrets",
		found, len(secrets), wrong, len(values))
	if found*100 < 95*len(secrets) || wrong*100 > 3*len(values) || len(secrets) < 200 || len(values) < 300 {
		t.Error("too many secrets are not found, or too many harmless values are taken for secrets")
	}
}

// published reads the values of a file in testdata.
func published(t *testing.T, file string) (all []sample) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		key, text, ok := strings.Cut(line, "=")
		if !ok {
			t.Fatalf("no value: %s", line)
		}
		// The random parts of a value depend only on its line, so that a new line changes no other value.
		seed := fnv.New64()
		_, _ = seed.Write([]byte(line))
		parsed, err := template.New("").Delims("«", "»").
			Funcs(functions(random(rand.New(rand.NewPCG(seed.Sum64(), 0))))).Parse(text)
		var b strings.Builder
		if err == nil {
			err = parsed.Execute(&b, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, sample{key, strings.ReplaceAll(b.String(), "⏎", "\n")})
	}
	return all
}

// functions returns the functions of the values in testdata: the alphabets of tokens, and encodings.
func functions(c func(set string, n int) string) template.FuncMap {
	lower, upper := strings.ToLower(alnum[:26])+"0123456789", alnum[:26]+"0123456789"
	all := template.FuncMap{"encode": encode, "b64urlenc": func(text string) string {
		return strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(encode(text))
	}}
	for name, set := range map[string]string{
		"alnum": alnum, "lower": lower, "upper": upper, "hex": hex, "upperhex": strings.ToUpper(hex), "digits": hex[:10],
		"base32": strings.ToLower(capsNo), "BASE32": capsNo, "b64": b64Set, "url": urlSet,
		"salt": alnum + "./",
	} {
		all[name] = func(n int) string { return c(set, n) }
	}
	all["uuid"] = func() string {
		return strings.Join([]string{c(hex, 8), c(hex, 4), "4" + c(hex, 3), "a" + c(hex, 3), c(hex, 12)}, "-")
	}
	pem := func(kind string) string {
		return "-----BEGIN " + kind + "-----\nMII" + c(b64Set, 61) + "\n" + c(b64Set, 64) + "\n" + c(b64Set, 38) +
			"==\n-----END " + kind + "-----\n"
	}
	all["pem"] = pem
	all["pemjson"] = func(kind string) string { return strings.ReplaceAll(pem(kind), "\n", `\n`) }
	var octets []byte
	for i := range 256 {
		octets = append(octets, byte(i))
	}
	// A value of a SealedSecret consists of the length of the RSA ciphertext in two bytes, the 512 bytes of this
	// ciphertext, and the encrypted text with the 16 bytes of AES-GCM's tag.
	all["sealed"] = func(n int) string {
		return encode("\x02\x00" + c(string(octets), 512+n+16))
	}
	return all
}
