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

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The kinds of objects that stand for clusters.
const (
	ClusterProfile = "cluster_profile" // of the Cluster Inventory API, https://kep.k8s.io/4322
	ManagedCluster = "managed_cluster" // of Open Cluster Management
	ArgoCDCluster  = "argocd"          // a Secret that registers a cluster at Argo CD
	FleetCluster   = "rancher_fleet"   // of Rancher Fleet
	ClusterAPI     = "cluster_api"     // of Cluster API
)

// InventoryKinds lists the kinds.
var InventoryKinds = []string{ClusterProfile, ManagedCluster, ArgoCDCluster, FleetCluster, ClusterAPI}

// inventoryKinds maps each kind to its objects. The first condition that an object has decides on its health.
var inventoryKinds = map[string]struct {
	resource
	clusterScoped bool
	conditions    []string
}{
	ClusterProfile: {
		resource:   resource{group: "multicluster.x-k8s.io", name: "clusterprofiles"},
		conditions: []string{"ControlPlaneHealthy"},
	},
	ManagedCluster: {
		resource: resource{group: "cluster.open-cluster-management.io", name: "managedclusters"}, clusterScoped: true,
		conditions: []string{"ManagedClusterConditionAvailable"},
	},
	ArgoCDCluster: {
		resource: resource{name: "secrets", labelSelector: "argocd.argoproj.io/secret-type=cluster"},
	},
	FleetCluster: {
		resource:   resource{group: "fleet.cattle.io", name: "clusters"},
		conditions: []string{"Ready"},
	},
	ClusterAPI: {
		resource:   resource{group: "cluster.x-k8s.io", name: "clusters"},
		conditions: []string{"Available", "Ready"},
	},
}

// maxObjectBytes limits the size of an object that stands for a cluster.
const maxObjectBytes = 1 << 20

// Inventory lists the clusters that a hub knows. It implements [clusters.Source].
type Inventory struct {
	Hub        string // name of the cluster that has the objects
	Connection Connection
	Kind       string   // one of [InventoryKinds]
	Namespaces []string // empty: all
}

// CheckNamespace returns an error if no namespace can have the name, which becomes a part of URLs.
func CheckNamespace(name string) error {
	if !unknown.Is(name) && len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%q can't be the name of a namespace: use lower-case letters, digits and \"-\"", name)
	}
	return nil
}

// Check returns an error if the kind can't have namespaces.
func (i Inventory) Check() error {
	if of, known := inventoryKinds[i.Kind]; known && of.clusterScoped && len(i.Namespaces) > 0 {
		return fmt.Errorf("objects of the kind %s are in no namespace; remove namespaces", i.Kind)
	}
	return nil
}

// Name implements [clusters.Source].
func (i Inventory) Name() string { return i.Hub + "/" + i.Kind }

// Clusters implements [clusters.Source].
func (i Inventory) Clusters(ctx context.Context) (found clusters.List, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	c, err := i.Connection.connect()
	if err != nil {
		return found, err
	}
	if err = c.login(ctx); err == nil {
		err = i.read(ctx, c, &found)
	}
	if err == nil {
		return found, nil
	}
	why := explain(err)
	if of := inventoryKinds[i.Kind]; apierrors.IsForbidden(err) {
		why = fmt.Sprintf("it denies the request; its user needs the permission to list %s: %s", of.name, err)
	}
	reason := errors.New(deployment.OneLine(c.secrets.Redact(why)))
	if !silent(err) && ctx.Err() == nil {
		return found, reason
	}
	return found, fmt.Errorf("%w: %w", deployment.ErrNoAnswer, reason)
}

// silent reports whether a hub gave no answer, or said that it can't answer now.
func silent(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	return errors.As(err, new(*url.Error))
}

// read reads the objects of all pages.
func (i Inventory) read(ctx context.Context, c *client, found *clusters.List) error {
	of := inventoryKinds[i.Kind]
	served, err := c.readAll(ctx, of.resource, i.Namespaces, func(page []byte) (string, error) {
		return i.page(c, page, found)
	})
	if err == nil && !served {
		err = fmt.Errorf("it does not serve %s.%s, the objects of the kind %s: install their CRD there, or remove the source",
			of.name, of.group, i.Kind)
	}
	return err
}

// page adds the clusters of a page, and returns the token of the next one.
func (i Inventory) page(c *client, text []byte, found *clusters.List) (next string, err error) {
	of := inventoryKinds[i.Kind]
	var page struct {
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
		Items []jsontext.Value `json:"items"`
	}
	if jsonv2.Unmarshal(text, &page) != nil { // the error may quote a Secret
		return "", fmt.Errorf("its list of %s can't be read: it is not in Kubernetes' format", of.name)
	}
	for n, item := range page.Items {
		var o clusterObject
		unreadable := jsonv2.Unmarshal(item, &o)
		made, err := i.cluster(&o)
		if unreadable != nil {
			err = errFormat
		}
		if err == nil && len(item) > maxObjectBytes {
			err = fmt.Errorf("it is larger than %d MiB", maxObjectBytes>>20)
		}
		made.Source = i.Name()
		made.Name, made.Namespace = c.secrets.Redact(made.Name), c.secrets.Redact(made.Namespace)
		made.Reason = deployment.OneLine(c.secrets.Redact(made.Reason))
		made.Labels, made.Properties = c.redactedMap(made.Labels), c.redactedMap(made.Properties)
		object := i.Name() + " " + cmp.Or(c.secrets.Redact(o.name()), fmt.Sprintf("number %d of a page", n+1))
		if err != nil {
			err = found.LeaveOut(object, err)
		} else {
			err = found.Add(object, made)
		}
		if err != nil {
			return "", err
		}
	}
	return page.Metadata.Continue, nil
}

// clusterObject contains the fields of an object that are read. Of a Secret, these are its labels and the name of the
// cluster: the rest are credentials. Annotations may contain secrets too.
type clusterObject struct {
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Data struct {
		Name []byte `json:"name"`
	} `json:"data"`
	Status struct {
		Conditions    []condition `json:"conditions"`
		Properties    []property  `json:"properties"`    // of a ClusterProfile
		ClusterClaims []property  `json:"clusterClaims"` // of a ManagedCluster
	} `json:"status"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// errFormat hides the cause, which may quote a Secret.
var errFormat = errors.New("it can't be read: it is not in Kubernetes' format")

// name returns the namespace and name of an object, or "".
func (o *clusterObject) name() string {
	if o.Metadata.Name == "" || o.Metadata.Namespace == "" {
		return o.Metadata.Name
	}
	return o.Metadata.Namespace + "/" + o.Metadata.Name
}

// cluster returns the cluster that an object stands for.
func (i Inventory) cluster(o *clusterObject) (clusters.Cluster, error) {
	c := clusters.Cluster{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Labels: o.Metadata.Labels}
	if i.Kind == ArgoCDCluster {
		c.Name = string(o.Data.Name)
		if c.Name == "" {
			return clusters.Cluster{}, errors.New("it has no data.name, the name of the cluster")
		}
		return c, nil
	}
	for _, p := range append(o.Status.Properties, o.Status.ClusterClaims...) {
		if c.Properties == nil {
			c.Properties = map[string]string{}
		}
		c.Properties[p.Name] = p.Value
	}
	c.Healthy, c.Reason = health(o.Status.Conditions, inventoryKinds[i.Kind].conditions)
	return c, nil
}

// condition is a condition of an object's status.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// health returns the health that the first of the wanted conditions reports, nil if it is unknown.
func health(all []condition, wanted []string) (healthy *bool, reason string) {
	for _, kind := range wanted {
		for _, c := range all {
			if c.Type != kind {
				continue
			}
			good := c.Status == "True"
			if good {
				return &good, ""
			}
			reason = fmt.Sprintf("%s is %s: %s: %s", c.Type, c.Status, c.Reason, c.Message)
			if c.Status == "False" {
				return &good, reason
			}
			return nil, reason
		}
	}
	return nil, ""
}

// redactedMap removes the credentials of the hub from the keys and values of a map. Of keys that become equal, the
// first one stays.
func (c *client) redactedMap(set map[string]string) map[string]string {
	if set == nil {
		return nil
	}
	clean := make(map[string]string, len(set))
	for _, key := range slices.Sorted(maps.Keys(set)) {
		shown := c.secrets.Redact(key)
		if _, twice := clean[shown]; !twice {
			clean[shown] = c.secrets.Redact(set[key])
		}
	}
	return clean
}
