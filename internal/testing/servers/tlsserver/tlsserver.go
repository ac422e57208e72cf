// Package tlsserver serves HTTPS on loopback with a private authority, and asks for client certificates.
package tlsserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Server is an HTTPS server. Its authority has signed its certificate and the certificate of its client.
type Server struct {
	URL    string // https://127.0.0.1:port
	CA     string // the certificate of the authority in PEM
	Client Pair   // the certificate and key of a client that the server accepts

	mu        sync.Mutex
	presented []string
}

// Pair is a certificate with its private key, in PEM format.
type Pair struct{ Certificate, Key string }

// New starts a server. wanted is its policy for client certificates.
func New(t testing.TB, handler http.Handler, wanted tls.ClientAuthType) *Server {
	t.Helper()
	authority := NewAuthority(t)
	s := &Server{CA: authority.PEM, Client: authority.Issue(t, "client", x509.ExtKeyUsageClientAuth)}
	own := authority.Issue(t, "server", x509.ExtKeyUsageServerAuth)
	certificate, err := tls.X509KeyPair([]byte(own.Certificate), []byte(own.Key))
	must.Succeed(t, err)
	clients := x509.NewCertPool()
	clients.AddCert(authority.Certificate)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := ""
		if given := req.TLS.PeerCertificates; len(given) > 0 {
			name = given[0].Subject.CommonName
		}
		s.mu.Lock()
		s.presented = append(s.presented, name)
		s.mu.Unlock()
		handler.ServeHTTP(w, req)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // tests let handshakes fail, which would be logged
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: wanted, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	}
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Presented returns the name in the client certificate of each request since the last call, or "" for a request without
// one.
func (s *Server) Presented() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	presented := s.presented
	s.presented = nil
	return presented
}

// NewPair returns a certificate and key from an authority that no server accepts.
func NewPair(t testing.TB) Pair {
	t.Helper()
	return NewAuthority(t).Issue(t, "stranger", x509.ExtKeyUsageClientAuth)
}

// Authority signs certificates.
type Authority struct {
	Certificate *x509.Certificate
	Key         *ecdsa.PrivateKey
	PEM         string // the certificate
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key := newKey(t)
	template := template("authority")
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Succeed(t, err)
	certificate, err := x509.ParseCertificate(der)
	must.Succeed(t, err)
	return &Authority{certificate, key, encode("CERTIFICATE", der)}
}

// Issue signs a certificate for a server or a client on loopback.
func (a *Authority) Issue(t testing.TB, name string, usage x509.ExtKeyUsage) Pair {
	t.Helper()
	key := newKey(t)
	template := template(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4zero} // the second address is used through a proxy
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &key.PublicKey, a.Key)
	must.Succeed(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must.Succeed(t, err)
	return Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", private)}
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	return key
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
