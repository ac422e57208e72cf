package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// Connection configures the connection to a cluster.
type Connection struct {
	Kubeconfig string // content of a kubeconfig, or its path
	Context    string // "": the kubeconfig's current context
	AllowExec  bool   // let programs that the kubeconfig names run to get a credential
	AllowFiles bool   // let the content of a kubeconfig refer to files of this machine
}

// Limits for one cluster.
const (
	requestTimeout   = 30 * time.Second // for all requests to one cluster
	maxResponseBytes = 16 << 20         // of one response
)

// Check validates a connection. It contacts no server and runs no program. The error contains no credentials.
func (c Connection) Check() error {
	_, err := c.config()
	return err
}

// config turns the kubeconfig into a client configuration.
func (c Connection) config() (*rest.Config, error) {
	config, err := c.load()
	if err != nil {
		return nil, err
	}
	name := cmp.Or(c.Context, config.CurrentContext)
	at := config.Contexts[name]
	switch {
	case name == "":
		return nil, fmt.Errorf("the kubeconfig has no current context; set context to one of: %s", names(config))
	case at == nil:
		return nil, fmt.Errorf("the kubeconfig has no context %q; it has: %s", name, names(config))
	case config.Clusters[at.Cluster] == nil:
		return nil, fmt.Errorf("the kubeconfig has no cluster %q, but its context %q refers to it", at.Cluster, name)
	}
	user := config.AuthInfos[at.AuthInfo]
	if user == nil && at.AuthInfo != "" {
		return nil, fmt.Errorf("the kubeconfig has no user %q, but its context %q refers to it", at.AuthInfo, name)
	}
	if user != nil && user.AuthProvider != nil {
		return nil, errors.New(
			"the kubeconfig's user needs an auth-provider, which Kubernetes no longer supports; use an exec plugin, a token " +
				"or a certificate",
		)
	}
	if user != nil && user.Exec != nil && !c.AllowExec {
		return nil, fmt.Errorf(
			"the kubeconfig's user runs the program %q to get a credential; set allow_exec = true to let it run",
			user.Exec.Command,
		)
	}
	if err := checkServer(config.Clusters[at.Cluster].Server); err != nil {
		return nil, err
	}
	if err := c.embedFiles(config.Clusters[at.Cluster], user); err != nil {
		return nil, err
	}
	made, err := clientcmd.NewNonInteractiveClientConfig(*config, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		// The error may quote the file.
		return nil, errors.New("the kubeconfig can't be used: a certificate or a key in it can't be read")
	}
	return made, nil
}

// embedFiles reads the files that a kubeconfig refers to into it. client-go would read a device without an end. A token
// is read again with each observation, since clusters replace it.
//
// The content of a kubeconfig must not refer to files, unless this is allowed. An author who knows only their paths
// would get their contents: a token is sent to the server of the kubeconfig.
func (c Connection) embedFiles(at *api.Cluster, user *api.AuthInfo) error {
	user = cmp.Or(user, &api.AuthInfo{})
	allowed := c.AllowFiles || c.isPath()
	var token []byte
	var fields []string
	for _, f := range []struct {
		field string
		path  *string
		data  *[]byte
	}{
		{"certificate-authority", &at.CertificateAuthority, &at.CertificateAuthorityData},
		{"client-certificate", &user.ClientCertificate, &user.ClientCertificateData},
		{"client-key", &user.ClientKey, &user.ClientKeyData},
		{"tokenFile", &user.TokenFile, &token},
	} {
		if *f.path == "" {
			continue
		}
		fields = append(fields, f.field)
		if len(*f.data) > 0 || !allowed { // the data count, as for kubectl
			continue
		}
		data, err := localfile.Read(*f.path, localfile.MaxSmall)
		if err != nil {
			return fmt.Errorf("the kubeconfig can't be used: the file that its %s names can't be read: %w", f.field, err)
		}
		*f.path, *f.data = "", data
	}
	if len(fields) > 0 && !allowed {
		return fmt.Errorf("the kubeconfig is passed as text, but it refers to files on this machine: %s; embed the content "+
			"of the files, or set allow_files = true", strings.Join(fields, ", "))
	}
	if len(token) > 0 {
		user.Token = strings.TrimSpace(string(token))
	}
	return nil
}

// isPath reports whether the kubeconfig is a path rather than its content.
func (c Connection) isPath() bool { return !strings.ContainsAny(c.Kubeconfig, "\n{") }

// load parses the kubeconfig, from its content or its file.
func (c Connection) load() (*api.Config, error) {
	if !c.isPath() {
		config, err := clientcmd.Load([]byte(c.Kubeconfig))
		if err != nil {
			return nil, errors.New("the text is not a kubeconfig")
		}
		if line := yamlend.LineAfterFirst(c.Kubeconfig); line > 0 {
			return nil, fmt.Errorf("line %d of the text follows the end of the kubeconfig; remove it", line)
		}
		return config, nil
	}
	text, err := localfile.Read(c.Kubeconfig, localfile.MaxSmall)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig is neither the content of a kubeconfig nor the path of a readable file: %w", err)
	}
	config, err := clientcmd.Load(text)
	if err == nil {
		for _, at := range config.Clusters {
			at.LocationOfOrigin = c.Kubeconfig
		}
		for _, user := range config.AuthInfos {
			user.LocationOfOrigin = c.Kubeconfig
		}
		err = clientcmd.ResolveLocalPaths(config)
	}
	if err != nil {
		return nil, errors.New("the file does not contain a kubeconfig")
	}
	if line := yamlend.LineAfterFirst(string(text)); line > 0 {
		return nil, fmt.Errorf("line %d of the file follows the end of the kubeconfig; remove it", line)
	}
	return config, nil
}

func names(config *api.Config) string {
	if len(config.Contexts) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", ")
}

// checkServer returns an error if the credential would be sent in plain text.
func checkServer(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return errors.New("the server in the kubeconfig is not a URL")
	}
	if u.Scheme != "https" && !giturl.IsLoopbackHost(u.Hostname()) {
		return fmt.Errorf(
			"the server in the kubeconfig, %s, does not use TLS; anyone on the network could read the credential",
			u.Host,
		)
	}
	return nil
}

// client talks to one cluster.
type client struct {
	rest *rest.RESTClient
	date *serverDate
	// secrets contains the credentials that were sent to the cluster, which may echo them.
	secrets *redact.Secrets
	plugin  *rest.Config // if not nil, a program gets the credential; see login
}

// connect returns a client without contacting the cluster. It runs no program.
func (c Connection) connect() (*client, error) {
	config, err := c.config()
	if err != nil || config.ExecProvider == nil {
		return newClient(config, err)
	}
	plain := rest.CopyConfig(config)
	plain.ExecProvider = nil
	made, err := newClient(plain, nil)
	if err == nil && config.BearerToken == "" && config.BearerTokenFile == "" { // otherwise the token counts
		made.plugin = config
	}
	return made, err
}

// login gives the client the credential that a program gets, if one has to run.
func (c *client) login(ctx context.Context) error {
	if c.plugin == nil {
		return nil
	}
	made, err := newClient(withPlugin(ctx, c.plugin))
	if err == nil {
		*c = *made
	}
	return err
}

// newClient returns the client of a configuration, unless there is an error.
func newClient(config *rest.Config, err error) (*client, error) {
	if err != nil {
		return nil, err
	}
	date, secrets := &serverDate{}, &redact.Secrets{}
	secrets.Add(config.Password)
	config.UserAgent, config.WarningHandler = "terraform-provider-kalypso", rest.NoWarnings{}
	config.QPS, config.Burst, config.Timeout = -1, 0, requestTimeout
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &bounded{next, config.Proxy, date, secrets} })
	http1, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be used: a certificate or a key in it can't be read")
	}
	// A redirect would forward the credential.
	http1.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	config = dynamic.ConfigFor(config) // of JSON
	config.GroupVersion = nil
	plain, err := rest.UnversionedRESTClientForConfigAndClient(config, http1)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be used: its server is not a URL")
	}
	return &client{rest: plain, date: date, secrets: secrets}, nil
}

// serverDate contains the time of a server as of its last response.
type serverDate struct{ at atomic.Pointer[time.Time] }

func (d *serverDate) now() time.Time {
	if at := d.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// bounded limits the size of a response, records the server's time, and names the proxy in errors.
type bounded struct {
	next    http.RoundTripper
	proxyOf func(*http.Request) (*url.URL, error) // nil: the environment's
	date    *serverDate
	secrets *redact.Secrets
}

func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	_, credential, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	b.secrets.Add(credential)
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, webproxy.Name(b.proxyOf, req, err)
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		b.date.at.Store(&at)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponseBytes)
	return resp, nil
}
