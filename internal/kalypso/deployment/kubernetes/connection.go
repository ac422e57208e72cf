package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
)

// Connection tells how to reach a cluster.
type Connection struct {
	Kubeconfig string // content of a kubeconfig, or its path
	Context    string // "": the kubeconfig's current context
	AllowExec  bool   // let programs that the kubeconfig names run to get a credential
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
	name := c.Context
	if name == "" {
		name = config.CurrentContext
	}
	context := config.Contexts[name]
	switch {
	case name == "":
		return nil, fmt.Errorf("the kubeconfig has no current context; set context to one of: %s", names(config))
	case context == nil:
		return nil, fmt.Errorf("the kubeconfig has no context %q; it has: %s", name, names(config))
	case config.Clusters[context.Cluster] == nil:
		return nil, fmt.Errorf("the kubeconfig has no cluster %q, but its context %q refers to it", context.Cluster, name)
	}
	user := config.AuthInfos[context.AuthInfo]
	if user == nil && context.AuthInfo != "" {
		return nil, fmt.Errorf("the kubeconfig has no user %q, but its context %q refers to it", context.AuthInfo, name)
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
	if err := checkServer(config.Clusters[context.Cluster].Server); err != nil {
		return nil, err
	}
	made, err := clientcmd.NewNonInteractiveClientConfig(*config, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		// The error may quote the file.
		return nil, errors.New("the kubeconfig can't be used: a certificate, key or file that it refers to can't be read")
	}
	return made, nil
}

// load parses the kubeconfig, from its content or its file.
func (c Connection) load() (*api.Config, error) {
	if !strings.ContainsAny(c.Kubeconfig, "\n{") {
		if _, err := os.Stat(c.Kubeconfig); err != nil {
			return nil, errors.New("kubeconfig is neither the content of a kubeconfig nor the path of a readable file")
		}
		config, err := clientcmd.LoadFromFile(c.Kubeconfig)
		if err != nil || clientcmd.ResolveLocalPaths(config) != nil {
			return nil, errors.New("the file does not hold a kubeconfig")
		}
		return config, nil
	}
	config, err := clientcmd.Load([]byte(c.Kubeconfig))
	if err != nil {
		return nil, errors.New("the text is not a kubeconfig")
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
	address, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && u.Hostname() != "localhost" && (err != nil || !address.IsLoopback()) {
		return fmt.Errorf(
			"the server in the kubeconfig, %s, does not use TLS; anyone on the network could read the credential",
			u.Host,
		)
	}
	return nil
}

// client talks to one cluster.
type client struct {
	dynamic.Interface
	rest *rest.RESTClient
	date *serverDate
	// secrets holds the credentials that were sent to the cluster, which may echo them.
	secrets *redact.Secrets
}

// connect returns a client without contacting the cluster.
func (c Connection) connect() (*client, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	date, secrets := &serverDate{}, &redact.Secrets{}
	secrets.Add(config.Password)
	config.UserAgent, config.WarningHandler = "terraform-provider-kalypso", rest.NoWarnings{}
	config.QPS, config.Burst, config.Timeout = -1, 0, requestTimeout
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &bounded{next, date, secrets} })
	http1, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be used: a certificate or a key in it can't be read")
	}
	// A redirect would forward the credential.
	http1.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	objects, err := dynamic.NewForConfigAndClient(config, http1)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be used: its server is not a URL")
	}
	config = dynamic.ConfigFor(config)
	config.GroupVersion = nil
	plain, err := rest.UnversionedRESTClientForConfigAndClient(config, http1)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be used: its server is not a URL")
	}
	return &client{objects, plain, date, secrets}, nil
}

// serverDate holds the time of a server as of its last response.
type serverDate struct {
	mu sync.Mutex
	at time.Time
}

func (d *serverDate) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

// bounded limits the size of a response and records the server's time.
type bounded struct {
	next    http.RoundTripper
	date    *serverDate
	secrets *redact.Secrets
}

func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	_, credential, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	b.secrets.Add(credential)
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		b.date.mu.Lock()
		b.date.at = at
		b.date.mu.Unlock()
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponseBytes)
	return resp, nil
}
