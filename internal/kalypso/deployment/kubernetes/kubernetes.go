// Package kubernetes reads from clusters what Flux and Argo CD sync to them, and from hubs which clusters exist.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// Limits on concurrent requests and on the responses of one cluster.
const (
	maxClusters = 16
	pageSize    = 500
	maxObjects  = 20000   // of one kind
	maxKept     = 1 << 27 // bytes of the objects of all kinds
	maxReported = 1 << 28 // bytes of the reports of a cluster; 20,000 Kustomizations with 30 objects each have 220 MiB
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
		clients[i], err = s[name].connect()
		if err != nil {
			wrong = append(wrong, fmt.Errorf("cluster %q: %w", name, err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	folders := readFolders(of)
	reports, errs := make([][]deployment.Report, len(names)), make([]error, len(names))
	parallel.Limited(len(names), maxClusters, func(i int) {
		reports[i], errs[i] = ask(ctx, names[i], clients[i], of, folders)
	})
	for _, err := range errs {
		if !slices.Contains(wrong, err) { // several clusters follow one folder
			wrong = append(wrong, err)
		}
	}
	return slices.Concat(reports...), errors.Join(wrong...)
}

// ask asks one cluster. An error is of the branch.
func ask(
	ctx context.Context, name string, c *client, of deployment.Rendering, folders map[string]folderReader,
) ([]deployment.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := c.login(ctx); err != nil {
		return []deployment.Report{{Cluster: name, Health: deployment.Offline, Message: explain(err)}}, nil
	}
	k := newCluster(name, c, of, folders)
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
		k.Reports = []deployment.Report{{Cluster: name, Health: deployment.Offline, Message: explain(err), Now: c.date.now()}}
	}
	k.redact()
	return k.Reports, k.unread
}

// redact removes the credential of the cluster from the reports, since the cluster can repeat it. The names of the
// cluster and of the rendering's folders are our own, and stay.
func (k *cluster) redact() {
	for i := range k.Reports {
		r := &k.Reports[i]
		for _, text := range []*string{&r.Message, &r.Revision, &r.Object} {
			*text = k.secrets.Redact(*text)
		}
		if destination, ok := strings.CutPrefix(r.Cluster, k.name+"/"); ok {
			r.Cluster = k.name + "/" + k.secrets.Redact(destination)
		}
		if !slices.Contains(k.of.Folders, r.Folder) {
			r.Folder = k.secrets.Redact(r.Folder)
		}
	}
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
	case errors.Is(err, deployment.ErrTooManyReports):
		return fmt.Sprintf("its objects have reports of more than %d MiB: too many of them sync many objects, so let "+
			"each sync less", maxReported>>20)
	case errors.As(err, new(*http.MaxBytesError)):
		return fmt.Sprintf("a response is larger than %d MiB", maxResponseBytes>>20)
	}
	return err.Error()
}

// cluster collects the reports of one cluster.
type cluster struct {
	*client
	deployment.Collector
	name    string
	of      deployment.Rendering
	folders map[string]folderReader
	lists   map[resource]*resourceList
	kept    int // bytes of all objects in lists
	parents []parent
	unread  error // of reading the branch
}

func newCluster(name string, c *client, of deployment.Rendering, folders map[string]folderReader) *cluster {
	return &cluster{
		client: c, Collector: deployment.Collector{Max: maxReported}, name: name, of: of, folders: folders,
		lists: map[resource]*resourceList{},
	}
}

// resourceList contains all objects of one resource.
type resourceList struct {
	served  bool // the cluster serves the resource
	objects []unstructured.Unstructured
	byName  map[string][]object // namespace/name, and /name for any namespace; nil: not computed yet
}

// list returns all objects of a resource.
func (k *cluster) list(ctx context.Context, group, name string) (found *resourceList, err error) {
	of := resource{group: group, name: name}
	if known := k.lists[of]; known != nil {
		return known, nil
	}
	found = &resourceList{}
	k.lists[of] = found
	found.served, err = k.readAll(ctx, of, nil, func(text []byte) (next string, err error) {
		var page unstructured.UnstructuredList
		if err := page.UnmarshalJSON(text); err != nil {
			return "", err
		}
		for _, o := range page.Items {
			unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations", lastApplied)
			k.kept += sizeOf(o.Object)
		}
		found.objects = append(found.objects, page.Items...)
		if len(found.objects) > maxObjects {
			return "", fmt.Errorf("it has more than %d %s", maxObjects, name)
		}
		if k.kept > maxKept {
			return "", fmt.Errorf("its %s have more than %d MiB", name, maxKept>>20)
		}
		return page.GetContinue(), nil
	})
	return found, err
}

// lastApplied is the annotation in which kubectl keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// sizeOf returns about how many bytes a decoded JSON value has.
func sizeOf(value any) int {
	const each = 16 // of any value
	size := each
	switch value := value.(type) {
	case string:
		size += len(value)
	case []any:
		for _, element := range value {
			size += sizeOf(element)
		}
	case map[string]any:
		for key, element := range value {
			size += each + len(key) + sizeOf(element)
		}
	}
	return size
}

// resource names the objects to read. The core group is "".
type resource struct{ group, name, labelSelector string }

// readAll reads all objects of a resource in some namespaces (none: in all), in the version that the cluster prefers.
// read reads a page, and returns the token of the next one. served is false if the cluster does not serve the resource.
func (c *client) readAll(
	ctx context.Context, of resource, namespaces []string, read func(page []byte) (next string, err error),
) (served bool, err error) {
	roots, err := c.roots(ctx, of.group)
	if err != nil {
		return false, err
	}
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, root := range roots {
		for _, namespace := range namespaces {
			path := []string{root, "namespaces", namespace, of.name}
			if namespace == "" {
				path = []string{root, of.name}
			}
			if err = c.pages(ctx, path, of.labelSelector, read); err != nil {
				break
			}
		}
		if !apierrors.IsNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// roots returns the paths of the versions of a group, the preferred one first, or none if the cluster does not serve
// the group.
func (c *client) roots(ctx context.Context, group string) ([]string, error) {
	if group == "" {
		return []string{"/api/v1"}, nil
	}
	var found metav1.APIGroup
	err := c.rest.Get().AbsPath("/apis", group).Do(ctx).Into(&found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, v := range append([]metav1.GroupVersionForDiscovery{found.PreferredVersion}, found.Versions...) {
		root := "/apis/" + group + "/" + v.Version
		if len(validation.IsDNS1035Label(v.Version)) == 0 && !slices.Contains(roots, root) { // it is a part of URLs
			roots = append(roots, root)
		}
	}
	return roots, nil
}

// pages reads all pages of a list. If a page is too large, it reads smaller ones.
func (c *client) pages(
	ctx context.Context, path []string, labelSelector string, read func(page []byte) (next string, err error),
) error {
	next := ""
	for size := pageSize; ; {
		request := c.rest.Get().AbsPath(path...).Param("limit", strconv.Itoa(size))
		if next != "" {
			request.Param("continue", next)
		}
		if labelSelector != "" {
			request.Param("labelSelector", labelSelector)
		}
		answer := request.Do(ctx)
		text, err := answer.Raw()
		if errors.As(err, new(*http.MaxBytesError)) && size > 1 {
			size = max(1, size/10)
			continue
		}
		if err != nil {
			return answer.Error()
		}
		next, err = read(text)
		if err != nil || next == "" {
			return err
		}
	}
}
