package gitea

import (
	"context"
	"fmt"
	"net/http"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

type label struct {
	ID   int64
	Name string
}

// labelColor is the colour of labels that are created.
const labelColor = "#cccccc"

// AddLabels implements [githost.MetadataCalls], also for issues. It creates labels that the repo and its organisation
// lack: Gitea ignores unknown names.
func (r *repo) AddLabels(ctx context.Context, number int, names []string) error {
	absent, err := r.addKnown(ctx, number, names)
	if err != nil || len(absent) == 0 {
		return err
	}
	r.client.creating.Lock()
	defer r.client.creating.Unlock()
	// Another pull request may have created the labels while this one waited for the lock.
	absent, err = r.addKnown(ctx, number, absent)
	if err != nil || len(absent) == 0 {
		return err
	}
	for _, name := range absent {
		_, err := r.call(ctx, http.MethodPost, "/labels", map[string]any{"name": name, "color": labelColor}, nil)
		if err != nil {
			return r.server.Error("create label "+name+" in "+r.traits.Repository, err)
		}
	}
	_, err = r.addKnown(ctx, number, absent)
	return err
}

// addKnown adds the labels that exist, and returns the missing ones.
func (r *repo) addKnown(ctx context.Context, number int, names []string) (absent []string, err error) {
	var has []label
	_, err = r.call(ctx, http.MethodPost, fmt.Sprintf("/issues/%d/labels", number),
		map[string]any{"labels": names}, &has)
	for _, one := range has {
		names = sets.Without(names, []string{one.Name})
	}
	return names, err
}

// RemoveLabel implements [githost.MetadataCalls]. It removes a label by its ID, which it reads from the pull request.
func (r *pullRequests) RemoveLabel(ctx context.Context, number int, name string) error {
	p, err := r.read(ctx, number)
	for _, one := range p.Labels {
		if err == nil && one.Name == name {
			_, err = r.call(ctx, http.MethodDelete, fmt.Sprintf("/issues/%d/labels/%d", number, one.ID), nil, nil)
		}
	}
	return err
}
