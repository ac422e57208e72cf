package delivery

import (
	"context"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Recall is [Import] for a rendering of which no more is kept than the hash of the tree that was delivered, and a commit of the
// branch that holds it: its state is of another version of the provider. What others did since is drift, as ever; then the
// state is [State.Vague]. Where they took our record away, the error is [ErrNoRendering], and the state tells the drift alone.
func Recall(ctx context.Context, client *gitremote.Client, place Place, environment, delivered, commit string) (*State, error) {
	s, record, err := Import(ctx, client, place, environment)
	gone := errors.Is(err, ErrNoRendering)
	if err != nil && !gone || !gone && s.Seen.TreeHash().String() == delivered {
		return s, err
	}
	branch, failed := gitops.Open(client, place.Repo, place.Branch)
	if failed != nil {
		return nil, failed
	}
	if gone {
		s = &State{Place: place, Environment: environment}
		if s.Drift, failed = history(ctx, branch, commit, []string{place.RecordPath()}); failed != nil {
			return nil, failed
		}
		return s, err
	}
	s.Base, s.Delivered, s.Inputs = commit, Footprint{}, nil
	paths := []string{place.RecordPath()}
	for _, name := range record.ClusterTypes { // what it holds is among them
		s.Delivered[name] = tree.Folder{ClusterType: name}
		paths = append(paths, place.Join(name))
	}
	s.Drift, err = history(ctx, branch, commit, paths)
	return s, err
}

// Vague reports whether s tells that others changed what was delivered, and not what that was: it is to be recalled each time.
func (s *State) Vague() bool {
	return s.Current() && slices.ContainsFunc(s.Delivered.Names(), func(name string) bool { return s.Delivered[name].Hash == tree.Hash{} })
}
