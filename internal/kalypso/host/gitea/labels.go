package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

type label struct {
	ID   int64
	Name string
}

// labelColor is the colour of labels that are created.
const labelColor = "#cccccc"

// CheckLabels allows any labels. It contacts no server.
func (r *repo) CheckLabels([]string) error { return nil }

// syncLabels adds and removes labels of a pull request. Names are case-sensitive.
func (r *repo) syncLabels(ctx context.Context, now *githost.PullRequest, p githost.PullRequestContent) error {
	var errs []error
	if add := sets.Without(p.Labels, now.Labels); len(add) > 0 {
		err := r.addLabels(ctx, now.Number, add)
		if err == nil {
			now.Labels = append(slices.Clone(now.Labels), add...)
		}
		errs = append(errs, err)
	}
	if remove := sets.Without(now.Labels, sets.Without(now.Labels, p.RemoveLabels)); len(remove) > 0 {
		err := r.removeLabels(ctx, now.Number, remove)
		if err == nil {
			now.Labels = sets.Without(now.Labels, remove)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addLabels adds labels to a pull request, and creates those that the repo and its organisation lack: Gitea ignores
// names that it does not know.
func (r *repo) addLabels(ctx context.Context, number int, names []string) error {
	absent, err := r.addKnown(ctx, number, names)
	if err != nil || len(absent) == 0 {
		return err
	}
	r.client.creating.Lock()
	defer r.client.creating.Unlock()
	// Another pull request may have created them while we waited.
	if absent, err = r.addKnown(ctx, number, absent); err != nil || len(absent) == 0 {
		return err
	}
	for _, name := range absent {
		_, err := r.call(ctx, "create label "+name+" in "+r.String(), http.MethodPost, "/labels",
			map[string]any{"name": name, "color": labelColor}, nil)
		if err != nil {
			return err
		}
	}
	_, err = r.addKnown(ctx, number, absent)
	return err
}

// addKnown adds the labels that exist, and returns the missing ones.
func (r *repo) addKnown(ctx context.Context, number int, names []string) (absent []string, err error) {
	var has []label
	_, err = r.call(ctx, r.op("label", number), http.MethodPost, fmt.Sprintf("/issues/%d/labels", number),
		map[string]any{"labels": names}, &has)
	for _, l := range has {
		names = sets.Without(names, []string{l.Name})
	}
	return names, err
}

// removeLabels removes labels by their IDs, which the pull request's answer has.
func (r *repo) removeLabels(ctx context.Context, number int, names []string) error {
	p, err := r.read(ctx, r.op("read the labels of", number), number)
	if err != nil {
		return err
	}
	for _, l := range p.Labels {
		if !slices.Contains(names, l.Name) {
			continue
		}
		_, err := r.call(ctx, r.op("remove label "+l.Name+" from", number), http.MethodDelete,
			fmt.Sprintf("/issues/%d/labels/%d", number, l.ID), nil, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
