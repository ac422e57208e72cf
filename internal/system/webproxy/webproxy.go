// Package webproxy connects to servers through the proxies that the environment names, and names the proxy in errors,
// without its password.
package webproxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/idna"
	"golang.org/x/net/proxy"
)

// Refused means that a proxy refuses a connection.
type Refused struct {
	Proxy  string // scheme, host and port
	Status int    // HTTP status
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("the proxy %s refuses the connection: HTTP status %d %s", r.Proxy, r.Status,
		http.StatusText(r.Status))
	switch r.Status {
	case http.StatusProxyAuthRequired, http.StatusUnauthorized:
		text += "; set its user and password in HTTPS_PROXY"
	case http.StatusForbidden:
		text += "; it must allow this server, or NO_PROXY must name the server"
	}
	return text
}

// Temporary reports whether the proxy may accept the connection later.
func (r *Refused) Temporary() bool { return r.Status >= http.StatusInternalServerError }

// refused returns the error for the status of a proxy.
func refused(by *url.URL, status int) *Refused {
	return &Refused{Proxy: by.Scheme + "://" + by.Host, Status: status}
}

// errAddress means that a variable does not contain the address of a proxy. It does not quote the variable, which may
// contain a password.
var errAddress = errors.New("HTTPS_PROXY or HTTP_PROXY is not the address of a proxy, such as " +
	"http://proxy.acme.io:3128; the schemes are http, https, socks5 and socks5h")

// schemes are the schemes of proxies for HTTP.
var schemes = []string{"http", "https", "socks5", "socks5h"}

// unusable replaces a variable that is not an address. Otherwise the library would connect without a proxy.
const unusable = "http://unusable.invalid"

// fromEnvironment returns a function that returns the proxy for a URL, or nil if the URL needs no proxy.
func fromEnvironment() func(*url.URL) (*url.URL, error) {
	config := httpproxy.FromEnvironment()
	for _, value := range []*string{&config.HTTPProxy, &config.HTTPSProxy} {
		if *value != "" && !isAddress(*value) {
			*value = unusable
		}
	}
	of := config.ProxyFunc()
	return func(to *url.URL) (*url.URL, error) {
		by, err := of(to)
		if err != nil || by != nil && by.String() == unusable {
			return nil, errAddress
		}
		return by, nil
	}
}

// isAddress reports whether a text is the address of a proxy. If the scheme is missing, it is http.
func isAddress(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	return err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme)
}

// Transport returns a transport of Go's defaults, see [Configure]. It has its own connections.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nothing replaces it
	Configure(t)
	return t
}

// Configure makes a transport use HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as they are now. If a proxy refuses to connect
// to a server, the error is [Refused]. The transport's certificates apply only to the server. A proxy over TLS must
// have a certificate that the system trusts, and gets no client certificate.
func Configure(t *http.Transport) {
	of := fromEnvironment()
	t.Proxy = func(req *http.Request) (*url.URL, error) { return of(req.URL) }
	if proxies := overTLS(); len(proxies) > 0 {
		t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			config := &tls.Config{MinVersion: tls.VersionTLS12}
			if !slices.Contains(proxies, address) && t.TLSClientConfig != nil { // a direct connection to a server
				config = t.TLSClientConfig
			}
			return (&tls.Dialer{NetDialer: &net.Dialer{Timeout: tlsTimeout}, Config: config}).DialContext(ctx, network, address)
		}
	}
	t.OnProxyConnectResponse = func(_ context.Context, by *url.URL, _ *http.Request, answer *http.Response) error {
		if answer.StatusCode != http.StatusOK {
			return refused(by, answer.StatusCode)
		}
		return nil
	}
}

// tlsTimeout bounds the time to connect over TLS.
const tlsTimeout = 30 * time.Second

// overTLS returns the addresses of the proxies to which a connection is encrypted.
func overTLS() (addresses []string) {
	config := httpproxy.FromEnvironment()
	for _, value := range []string{config.HTTPProxy, config.HTTPSProxy} {
		by, err := url.Parse(value)
		if err != nil || by.Scheme != "https" {
			continue
		}
		host := by.Hostname()
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
		addresses = append(addresses, net.JoinHostPort(host, cmp.Or(by.Port(), "443")))
	}
	return addresses
}

// Failed is the error of a request that went over a proxy.
type Failed struct {
	Proxy string // scheme, host and port
	Err   error
}

func (f *Failed) Error() string { return fmt.Sprintf("over the proxy %s: %s", f.Proxy, f.Err) }

func (f *Failed) Unwrap() error { return f.Err }

// Name returns the error of a request, as a [Failed] if proxyOf returns a proxy for it. Use it with a shared transport,
// which [Configure] must not change. If proxyOf is nil, [http.ProxyFromEnvironment] decides, which reads the
// environment variables only once.
func Name(proxyOf func(*http.Request) (*url.URL, error), req *http.Request, err error) error {
	if proxyOf == nil {
		proxyOf = http.ProxyFromEnvironment
	}
	if by, _ := proxyOf(req); by != nil {
		return &Failed{Proxy: by.Scheme + "://" + by.Host, Err: err}
	}
	return err
}

// Answered returns [Refused] if an answer comes from a proxy that asks for a password. Over plain HTTP, a proxy answers
// in place of the server.
func Answered(resp *http.Response) error {
	if resp.StatusCode != http.StatusProxyAuthRequired || resp.Request.URL.Scheme != "http" {
		return nil
	}
	if by, err := fromEnvironment()(resp.Request.URL); err == nil && by != nil {
		return refused(by, resp.StatusCode)
	}
	return nil // from the server
}

// Dial connects over ALL_PROXY, unless NO_PROXY names the server. The supported schemes of ALL_PROXY are socks5 and
// socks5h.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	text, without := environment("ALL_PROXY"), environment("NO_PROXY")
	if text == "" {
		return proxy.Direct.DialContext(ctx, network, address)
	}
	dialer := proxy.Dialer(refusing{}) // the library would connect without a proxy
	if by, err := url.Parse(text); err == nil && (by.Scheme == "socks5" || by.Scheme == "socks5h") {
		dialer, err = proxy.FromURL(by, proxy.Direct)
		if err != nil {
			return nil, errAllProxy
		}
	}
	perHost := proxy.NewPerHost(dialer, proxy.Direct)
	perHost.AddFromString(without)
	return perHost.DialContext(ctx, network, address)
}

// environment returns the value of a variable whose name is in upper or lower case.
func environment(name string) string {
	return cmp.Or(os.Getenv(name), os.Getenv(strings.ToLower(name)))
}

// errAllProxy means that SSH can't use ALL_PROXY. It does not quote the variable, which may contain a password.
var errAllProxy = errors.New("SSH can't use the proxy in ALL_PROXY. Set it to " +
	"socks5://HOST:PORT or socks5h://HOST:PORT, or add the server to NO_PROXY")

// refusing is the dialer for an ALL_PROXY that can't be used.
type refusing struct{}

func (refusing) Dial(string, string) (net.Conn, error) { return nil, errAllProxy }

func (refusing) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errAllProxy
}
