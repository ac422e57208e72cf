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

// labels are the labels of a pull request. Names are case-sensitive.
type labels struct {
	pulls  *pullRequests
	number int
}

// sync adds and removes labels.
func (l labels) sync(ctx context.Context, now *githost.PullRequest, p githost.PullRequestContent) error {
	var errs []error
	if add := sets.Without(p.Labels, now.Labels); len(add) > 0 {
		err := l.add(ctx, add)
		if err == nil {
			now.Labels = append(slices.Clone(now.Labels), add...)
		}
		errs = append(errs, err)
	}
	if remove := sets.Without(now.Labels, sets.Without(now.Labels, p.RemoveLabels)); len(remove) > 0 {
		err := l.remove(ctx, remove)
		if err == nil {
			now.Labels = sets.Without(now.Labels, remove)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// add adds labels, and creates those that the repo and its organisation lack: Gitea ignores unknown names.
func (l labels) add(ctx context.Context, names []string) error {
	r := l.pulls.repo
	absent, err := l.addKnown(ctx, names)
	if err != nil || len(absent) == 0 {
		return err
	}
	r.client.creating.Lock()
	defer r.client.creating.Unlock()
	// Another pull request may have created the labels while this one waited for the lock.
	if absent, err = l.addKnown(ctx, absent); err != nil || len(absent) == 0 {
		return err
	}
	for _, name := range absent {
		_, err := r.call(ctx, "create label "+name+" in "+r.traits.Repository, http.MethodPost, "/labels",
			map[string]any{"name": name, "color": labelColor}, nil)
		if err != nil {
			return err
		}
	}
	_, err = l.addKnown(ctx, absent)
	return err
}

// addKnown adds the labels that exist, and returns the missing ones.
func (l labels) addKnown(ctx context.Context, names []string) (absent []string, err error) {
	var has []label
	op := l.pulls.traits.Op("label", l.number)
	_, err = l.pulls.call(ctx, op, http.MethodPost, fmt.Sprintf("/issues/%d/labels", l.number),
		map[string]any{"labels": names}, &has)
	for _, one := range has {
		names = sets.Without(names, []string{one.Name})
	}
	return names, err
}

// remove removes labels by their IDs, which it reads from the pull request.
func (l labels) remove(ctx context.Context, names []string) error {
	r := l.pulls
	p, err := r.read(ctx, r.traits.Op("read the labels of", l.number), l.number)
	if err != nil {
		return err
	}
	for _, one := range p.Labels {
		if !slices.Contains(names, one.Name) {
			continue
		}
		_, err := r.call(ctx, r.traits.Op("remove label "+one.Name+" from", l.number), http.MethodDelete,
			fmt.Sprintf("/issues/%d/labels/%d", l.number, one.ID), nil, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
