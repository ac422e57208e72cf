// Package kubernetes asks clusters what Flux and Argo CD sync to them.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// Bounds of what is asked side by side, and of what one cluster may answer.
const (
	maxClusters = 16
	pageSize    = 500
	maxObjects  = 20000 // of one kind
)

// Source is clusters, by name.
type Source map[string]Connection

// Name is the source's, for people.
func (Source) Name() string { return "kubernetes" }

// Reports asks all clusters. One that does not answer what it is asked is reported as offline, with why. An error is about a
// connection that can't be used; nothing was contacted then.
func (s Source) Reports(ctx context.Context, of deployment.Rendering) ([]deployment.Report, error) {
	names := slices.Sorted(maps.Keys(s))
	clients := make([]*client, len(names))
	var wrong []error
	for i, name := range names {
		var err error
		if clients[i], err = s[name].connect(); err != nil {
			wrong = append(wrong, fmt.Errorf("cluster %q: %w", name, err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	contents := &contents{of: of, read: map[string]*folderContents{}}
	reports := make([][]deployment.Report, len(names))
	places := make(chan struct{}, maxClusters)
	var wg sync.WaitGroup
	for i, name := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			reports[i] = ask(ctx, name, clients[i], of, contents)
		})
	}
	wg.Wait()
	return slices.Concat(reports...), contents.err()
}

// ask asks one cluster.
func ask(ctx context.Context, name string, c *client, of deployment.Rendering, contents *contents) []deployment.Report {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	k := &cluster{name: name, client: c, of: of, contents: contents, kinds: map[string]*kind{}}
	flux, err := k.flux(ctx)
	argo := false
	if err == nil {
		argo, err = k.argoCD(ctx)
	}
	if err == nil && !flux && !argo {
		err = errors.New("it has neither the custom resources of Flux nor those of Argo CD")
	}
	if err != nil {
		k.reports = []deployment.Report{{Cluster: name, Health: deployment.Offline, Message: explain(err), Now: c.date.now()}}
	} else {
		k.within()
	}
	for i := range k.reports {
		for _, text := range []*string{&k.reports[i].Message, &k.reports[i].Revision, &k.reports[i].Object} {
			*text = c.secrets.Redact(*text)
		}
	}
	return k.reports
}

// explain says why a cluster could not be asked. What a server wrote is bounded by who shows it.
func explain(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case apierrors.IsForbidden(err):
		return "it does not allow what is asked of it; the guide names the rights: " + err.Error()
	case apierrors.IsUnauthorized(err):
		return "it does not accept the credential"
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error()
	}
	return err.Error()
}

// cluster is one that is being asked.
type cluster struct {
	*client
	name     string
	of       deployment.Rendering
	contents *contents
	kinds    map[string]*kind // by group and resource
	parents  []parent
	reports  []deployment.Report
}

// kind is all objects of a kind.
type kind struct {
	there   bool // whether the cluster knows it
	objects []unstructured.Unstructured
}

// list is all objects of a kind, in the version that the cluster prefers.
func (k *cluster) list(ctx context.Context, group, resource string) (*kind, error) {
	if known := k.kinds[group+"/"+resource]; known != nil {
		return known, nil
	}
	found := &kind{}
	k.kinds[group+"/"+resource] = found
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
		found.there = err == nil
		return found, err
	}
	return found, nil
}

// versions are those of a group, the preferred one first; none where the cluster does not know it.
func (k *cluster) versions(ctx context.Context, group string) ([]string, error) {
	var found metav1.APIGroup
	err := k.rest.Get().AbsPath("/apis", group).Do(ctx).Into(&found)
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

// pages reads a list to its end.
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
