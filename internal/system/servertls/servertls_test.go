package servertls_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// TestParse: a text that is not a certificate or key is an error at its field. The error must not contain a part of the
// text.
func TestParse(t *testing.T) {
	one, other := tlsserver.NewPair(t), tlsserver.NewPair(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind, body string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(body)}))
	}
	pkcs1 := encode("RSA PRIVATE KEY", string(x509.MarshalPKCS1PrivateKey(rsaKey)))
	old := string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("canary"),
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}}))
	bundle := "# One authority\n" + one.Certificate + "\n# Another one\r\n" + other.Certificate
	for name, tc := range map[string]struct {
		given servertls.Certificates
		want  string // the fields with the reasons, separated by |
	}{
		"no fields":    {servertls.Certificates{}, ""},
		"an authority": {servertls.Certificates{Authorities: one.Certificate}, ""},
		"a bundle":     {servertls.Certificates{Authorities: bundle}, ""},
		"a client":     {servertls.Certificates{Client: one.Certificate, ClientKey: one.Key}, ""},
		"a chain":      {servertls.Certificates{Client: one.Certificate + other.Certificate, ClientKey: one.Key}, ""},
		"EC parameters": {servertls.Certificates{Client: one.Certificate,
			ClientKey: encode("EC PARAMETERS", "x") + one.Key}, ""},
		"text as authority": {servertls.Certificates{Authorities: "canary"},
			"ca_certificate: contains no certificate"},
		"the name of a file as authority": {servertls.Certificates{Authorities: "/etc/canary.pem"},
			"ca_certificate: contains no certificate"},
		"a certificate request as authority": {servertls.Certificates{Authorities: encode("CERTIFICATE REQUEST", "canary")},
			"ca_certificate: contains no certificate"},
		"a key as authority": {servertls.Certificates{Authorities: one.Certificate + one.Key},
			"ca_certificate: contains a private key"},
		"a broken authority": {servertls.Certificates{Authorities: one.Certificate + encode("CERTIFICATE", "canary")},
			"ca_certificate: contains a certificate that can't be parsed"},
		"a cut authority": {servertls.Certificates{Authorities: bundle[:len(bundle)-30]},
			"ca_certificate: contains a certificate that can't be parsed"},
		"text as client certificate": {servertls.Certificates{Client: "canary", ClientKey: one.Key},
			"client_certificate: contains no certificate"},
		"a key as client certificate": {servertls.Certificates{Client: one.Key, ClientKey: one.Key},
			"client_certificate: contains a private key"},
		"text as key": {servertls.Certificates{Client: one.Certificate, ClientKey: "canary"},
			"client_key: is not a private key"},
		"a certificate as key": {servertls.Certificates{Client: one.Certificate, ClientKey: one.Certificate},
			"client_key: is not a private key"},
		"a broken key": {servertls.Certificates{Client: one.Certificate, ClientKey: encode("PRIVATE KEY", "canary")},
			"client_key: is not a private key"},
		"an encrypted key": {servertls.Certificates{Client: one.Certificate,
			ClientKey: encode("ENCRYPTED PRIVATE KEY", "canary")}, "client_key: is encrypted"},
		"an older encrypted key": {servertls.Certificates{Client: one.Certificate, ClientKey: old},
			"client_key: is encrypted"},
		"the key of another certificate": {servertls.Certificates{Client: one.Certificate, ClientKey: other.Key},
			"client_key: is not the private key of the first certificate"},
		"another kind of key": {servertls.Certificates{Client: one.Certificate, ClientKey: pkcs1},
			"client_key: is not the private key of the first certificate"},
		"a chain in another order": {servertls.Certificates{Client: other.Certificate + one.Certificate, ClientKey: one.Key},
			"client_key: is not the private key of the first certificate"},
		"a client certificate without a key": {servertls.Certificates{Client: one.Certificate}, "client_key: is required"},
		"a key without a client certificate": {servertls.Certificates{ClientKey: one.Key}, "client_certificate: is required"},
		"text in all fields": {servertls.Certificates{Authorities: "canary", Client: "canary", ClientKey: "canary"},
			"ca_certificate: contains no|client_certificate: contains no|client_key: is not"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			config := tc.given.Parse(true, func(field, reason string) {
				got = append(got, field+": "+reason)
			})
			var want []string
			if tc.want != "" {
				want = strings.Split(tc.want, "|")
			}
			if !slices.EqualFunc(got, want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, want)
			}
			if (config == nil) != (tc.want != "" || tc.given.IsZero()) {
				t.Errorf("the config is %v", config)
			}
			for _, secret := range []string{"canary", strings.Split(one.Key, "\n")[1]} {
				if strings.Contains(strings.Join(got, "\n"), secret) {
					t.Errorf("%q contains %q", got, secret)
				}
			}
		})
	}
}
