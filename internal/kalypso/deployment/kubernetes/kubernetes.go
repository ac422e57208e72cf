// Package kubernetes reads from clusters what Flux and Argo CD sync to them, and from hubs which clusters exist.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// Limits on concurrent requests and on the responses of one cluster.
const (
	maxClusters = 16
	pageSize    = 500
	maxObjects  = 20000 // of one kind
)

// Source reports on clusters. It maps their names to connections.
type Source map[string]Connection

// Name implements observe.Source.
func (Source) Name() string { return "kubernetes" }

// Reports asks all clusters. It reports a cluster that does not answer as offline, with the reason. If a connection
// can't be used, it returns an error and contacts no cluster.
func (s Source) Reports(ctx context.Context, of deployment.Rendering) ([]deployment.Report, error) {
	names := slices.Sorted(maps.Keys(s))
	clients := make([]*client, len(names))
	var wrong []error
	for i, name := range names {
		var err error
		if clients[i], err = s[name].connect(ctx); err != nil {
			wrong = append(wrong, fmt.Errorf("cluster %q: %w", name, err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	contents := &folderObjects{of: of, read: map[string]*folderContents{}}
	reports := make([][]deployment.Report, len(names))
	parallel.Limited(len(names), maxClusters, func(i int) {
		reports[i] = ask(ctx, names[i], clients[i], of, contents)
	})
	return slices.Concat(reports...), contents.err()
}

// ask asks one cluster.
func ask(
	ctx context.Context,
	name string,
	c *client,
	of deployment.Rendering,
	contents *folderObjects,
) []deployment.Report {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	logged, err := c.login(ctx)
	if err != nil {
		return []deployment.Report{{Cluster: name, Health: deployment.Offline, Message: explain(err)}}
	}
	c = logged
	k := &cluster{
		name: name, client: c, of: of, contents: contents,
		lists: map[string]*resourceList{}, sources: map[string]map[string]object{},
	}
	flux, err := k.flux(ctx)
	argo := false
	if err == nil {
		argo, err = k.argoCD(ctx)
	}
	if err == nil && !flux && !argo {
		err = errors.New("it has no custom resources of Flux or Argo CD")
	}
	if err == nil {
		err = k.addNested(ctx)
	}
	if err != nil {
		k.reports = []deployment.Report{{Cluster: name, Health: deployment.Offline, Message: explain(err), Now: c.date.now()}}
	}
	for i := range k.reports {
		for _, text := range []*string{&k.reports[i].Message, &k.reports[i].Revision, &k.reports[i].Object} {
			*text = c.secrets.Redact(*text)
		}
	}
	return k.reports
}

// explain returns the reason why a request to a cluster failed. The caller limits the length of the server's message.
func explain(err error) string {
	var over *webproxy.Failed
	switch {
	case errors.Is(err, context.DeadlineExceeded) && errors.As(err, &over):
		return "it did not answer in time over the proxy " + over.Proxy
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case apierrors.IsForbidden(err):
		return "it denies the request; the guide \"Does it run?\" lists the permissions: " + err.Error()
	case apierrors.IsUnauthorized(err):
		return "it rejects the credential"
	case errors.As(err, new(*http.MaxBytesError)):
		return fmt.Sprintf("a response is larger than %d MiB", maxResponseBytes>>20)
	}
	return err.Error()
}

// cluster collects the reports of one cluster.
type cluster struct {
	*client
	name     string
	of       deployment.Rendering
	contents *folderObjects
	lists    map[string]*resourceList     // by group and resource
	sources  map[string]map[string]object // of Flux, by kind, and by namespace/name; see [cluster.source]
	parents  []parent
	reports  []deployment.Report
}

// resourceList contains all objects of one resource.
type resourceList struct {
	served  bool // the cluster serves the resource
	objects []unstructured.Unstructured
	byName  map[string][]object // namespace/name, and /name for any namespace; nil: not computed yet
}

// list returns all objects of a resource, in the version that the cluster prefers.
func (k *cluster) list(ctx context.Context, group, resource string) (*resourceList, error) {
	if known := k.lists[group+"/"+resource]; known != nil {
		return known, nil
	}
	found := &resourceList{}
	k.lists[group+"/"+resource] = found
	versions, err := k.versions(ctx, group)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		at := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
		found.objects, err = k.pages(ctx, at)
		if apierrors.IsNotFound(err) {
			continue
		}
		found.served = err == nil
		return found, err
	}
	return found, nil
}

// versions returns the versions of a group, the preferred one first, or none if the cluster does not serve the group.
func (c *client) versions(ctx context.Context, group string) ([]string, error) {
	var found metav1.APIGroup
	err := c.rest.Get().AbsPath("/apis", group).Do(ctx).Into(&found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	versions := []string{found.PreferredVersion.Version}
	for _, v := range found.Versions {
		if v.Version != found.PreferredVersion.Version {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

// pages reads all pages of a list.
func (k *cluster) pages(ctx context.Context, at schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := k.Resource(at).List(ctx, options)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if len(all) > maxObjects {
			return nil, fmt.Errorf("it has more than %d %s", maxObjects, at.Resource)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}
