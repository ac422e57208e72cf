package observe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// Versions contains the running versions.
type Versions struct {
	observation.Observation
	// Unread contains the places whose versions can't be read, sorted.
	Unread []UnreadPlace
}

// UnreadPlace is a place that can't be read at a commit.
type UnreadPlace struct {
	versions.At
	Err error
}

// count counts the clusters that run each version of each deployment target, over all cluster types.
func (v *Versions) count(targets map[string]deployment.TargetCount) {
	for name, t := range targets {
		t.Versions = map[string]int{}
		targets[name] = t
	}
	for _, g := range v.Groups {
		if t, there := targets[g.Target]; there && g.Version.Version != "" {
			t.Versions[g.Version.Version] += len(g.Members)
		}
	}
}

// place names a deployment target, or an object, in the folder of a cluster type.
type place struct{ folder, name string }

// collector collects the instances on clusters, grouped by their reports.
type collector struct {
	branch  *branch
	objects map[place][]versions.Object // of each deployment target
	// targets contains the deployment target of each object, by its name in lower case, and by its kind and name alone.
	targets map[place]string
	groups  map[reported]*group
}

// reported is the key of a group before any repo is read.
type reported struct {
	folder, target, applied string
	state                   deployment.ClusterState
}

type group struct {
	of      deployment.Instance // any of them
	members []observation.Member
}

// newCollector reads the objects of all deployment targets at head.
func newCollector(b *branch) (*collector, error) {
	c := &collector{
		branch: b, objects: map[place][]versions.Object{}, targets: map[place]string{}, groups: map[reported]*group{},
	}
	files, err := b.readManifests(b.names...)
	if err != nil {
		return nil, err
	}
	rendering := deployment.Rendering{Path: b.at.Path}
	byTarget := map[place]map[string][]byte{}
	for path, content := range files {
		below, _ := rendering.FolderOf(path)
		if parts := strings.SplitN(below, "/", 3); len(parts) == 3 && isTarget(parts[1]) {
			at := place{parts[0], parts[1]}
			if byTarget[at] == nil {
				byTarget[at] = map[string][]byte{}
			}
			byTarget[at][path] = content
		}
	}
	for at, files := range byTarget {
		c.objects[at] = versions.Find(files)
		for _, o := range c.objects[at] {
			for _, name := range objectNames(o.Reference.String()) {
				if other, there := c.targets[place{at.folder, name}]; !there || at.name < other {
					c.targets[place{at.folder, name}] = at.name
				}
			}
		}
	}
	return c, nil
}

// objectNames returns the names under which an object is found: its own, and the one without its namespace, which
// another object may set.
func objectNames(object string) []string {
	lower := strings.ToLower(object)
	kind, rest, _ := strings.Cut(lower, " ")
	_, name, _ := strings.Cut(rest, "/")
	return []string{lower, kind + " /" + name}
}

// targetOf implements [deployment.Input.TargetOf].
func (c *collector) targetOf(folder, object string) string {
	for _, name := range objectNames(object) {
		if target, there := c.targets[place{folder, name}]; there {
			return target
		}
	}
	return ""
}

// add implements [deployment.Input.Instances].
func (c *collector) add(i deployment.Instance) {
	slices.SortFunc(i.Applied, func(a, b deployment.Applied) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Version, b.Version))
	})
	key := reported{folder: i.Folder, target: i.Target, state: i.State}
	for _, a := range i.Applied {
		key.applied += a.Object + "\x00" + a.Revision + "\x00" + a.Version + "\x00"
	}
	if len(i.Applied) == 0 {
		key.applied = i.Revision
	}
	g := c.groups[key]
	if g == nil {
		g = &group{of: i}
		c.groups[key] = g
	}
	g.members = append(g.members, observation.Member{
		Cluster: i.Cluster, Since: observation.Millis(i.Since), Message: i.Message,
	})
}

// versions reads the places that clusters name, and returns the running versions. silent lists the sources that did not
// answer.
func (c *collector) versions(
	ctx context.Context, req Request, silent []string, seen *Observation,
) (*Versions, error) {
	bounded, cancel := context.WithTimeout(ctx, req.Wait)
	defer cancel()
	var wants []versions.At
	for _, g := range c.groups {
		for _, a := range g.of.Applied {
			if at, ok := c.place(g.of, a); ok {
				wants = append(wants, at)
			}
		}
	}
	read := versions.Read(bounded, req.Client, wants, req.AllowLocal)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	trees, err := c.targetTrees()
	if err != nil {
		return nil, err
	}
	found := &Versions{Observation: observation.Observation{
		Environment: seen.Branch.Environment, Repo: req.At.Repo, Branch: req.At.Branch, Path: req.At.Path,
		ObservedAt: seen.At, Head: seen.Branch.Head, PromotedCommit: seen.Branch.PromotedCommit,
		Verdict:    string(seen.Outcome.Verdict),
		Unanswered: slices.Sorted(slices.Values(silent)),
	}}
	for _, f := range seen.Outcome.Folders {
		if f.Verdict == seen.Outcome.Verdict && f.Since.After(found.VerdictSince) {
			found.VerdictSince = f.Since
		}
	}
	for key, g := range c.groups {
		found.Groups = append(found.Groups, observation.Group{
			Place:     observation.Place{ClusterType: key.folder, Target: key.target},
			Condition: observation.Condition{Version: c.version(g.of, read, trees), State: string(key.state)},
			Members:   g.members,
		})
	}
	found.Sort()
	for at, result := range read {
		if result.Err != nil {
			found.Unread = append(found.Unread, UnreadPlace{at, result.Err})
		}
	}
	slices.SortFunc(found.Unread, func(a, b UnreadPlace) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Commit, b.Commit),
			cmp.Compare(a.Branch, b.Branch))
	})
	return found, nil
}

// unlocated returns the clusters that do not report their folders, and are not expected in any: their instances are
// missing, not removed.
func unlocated(world deployment.Input) []string {
	expected := map[string]bool{}
	for _, e := range world.Rules.Expected {
		for _, cluster := range e.Clusters {
			expected[cluster] = true
		}
	}
	silent := map[string]bool{}
	for _, r := range world.Reports {
		if r.Folder == "" && !expected[r.Cluster] {
			silent["cluster "+r.Cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(silent))
}

// place returns the place at which an applied commit can be read; ok is false if it is no commit.
func (c *collector) place(i deployment.Instance, a deployment.Applied) (at versions.At, ok bool) {
	at.Commit = deployment.ParseRevision(a.Revision).Hash
	at.Place = c.object(i, a).Place
	return at, at.Commit != ""
}

// object returns the object at head that a report names, or the target's first object if it names none.
func (c *collector) object(i deployment.Instance, a deployment.Applied) versions.Object {
	all := c.objects[place{i.Folder, i.Target}]
	for _, name := range objectNames(a.Object) {
		for n := range all {
			if a.Object != "" && slices.Contains(objectNames(all[n].Reference.String()), name) {
				return all[n]
			}
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return versions.Object{}
}

// version returns the version of an instance.
func (c *collector) version(
	i deployment.Instance, read map[versions.At]*versions.Content, trees map[place]map[string]string,
) observation.Version {
	if len(i.Applied) == 0 {
		return c.folderVersion(i, trees)
	}
	var v observation.Version
	var contents []string
	for n, a := range i.Applied {
		one := c.appliedVersion(i, a, read)
		if n == 0 {
			v = one
		}
		contents = append(contents, one.Content)
	}
	if len(contents) > 1 { // any of them is a change
		sum := sha256.Sum256([]byte(strings.Join(contents, "\x00")))
		v.Content = hex.EncodeToString(sum[:20])
	}
	return v
}

func (c *collector) appliedVersion(
	i deployment.Instance, a deployment.Applied, read map[versions.At]*versions.Content,
) observation.Version {
	v := observation.Version{Version: a.Version}
	from := c.object(i, a).Place
	v.Repo, v.Path = deployment.OneLine(from.Repo), deployment.OneLine(from.Path)
	at, isCommit := c.place(i, a)
	if !isCommit { // a chart or an artifact, or a report that only names the version
		v.Content = a.Revision
		name, _, _ := strings.Cut(a.Revision, "@")
		v.Version = cmp.Or(v.Version, name)
		return v
	}
	v.Commit, v.Content = at.Commit, at.Commit
	if result := read[at]; result != nil && result.Tree != "" {
		recorded := result.Version(i.Target, c.branch.Environment)
		recorded.Version = cmp.Or(v.Version, recorded.Version)
		recorded.Repo, recorded.Path, recorded.Commit = v.Repo, v.Path, v.Commit
		recorded.Content, recorded.CommittedAt = result.Tree, result.CommittedAt
		v = recorded
	}
	v.Version = cmp.Or(v.Version, observation.Short(v.Commit))
	return v
}

// folderVersion returns the version of a part of the GitOps repo itself: of a cluster type's folder, or of a target
// whose manifests come from nowhere else.
func (c *collector) folderVersion(i deployment.Instance, trees map[place]map[string]string) observation.Version {
	commit := deployment.ParseRevision(i.Revision).Hash
	at := place{i.Folder, i.Target}
	if commit == "" || i.Target != "" && len(c.objects[at]) > 0 {
		return observation.Version{}
	}
	v := observation.Version{
		Commit: commit, Repo: c.branch.at.Repo, Path: c.branch.at.Join(i.Folder), CommittedAt: c.branch.History.Time(commit),
	}
	if i.Target == "" {
		v.Content = cmp.Or(c.branch.folderAt(commit, i.Folder), commit)
	} else {
		v.Path += "/" + i.Target
		v.Content = trees[place{i.Folder, commit}][i.Target]
	}
	if v.Content == "" {
		return observation.Version{} // the commit does not have the target yet
	}
	v.Version = observation.Short(v.Content)
	return v
}

// targetTrees returns the trees of the deployment targets whose manifests come from nowhere else, by cluster type and
// commit.
func (c *collector) targetTrees() (map[place]map[string]string, error) {
	commits := map[string]map[plumbing.Hash]bool{} // by folder
	for key, g := range c.groups {
		hash := deployment.ParseRevision(g.of.Revision).Hash
		if key.target == "" || len(g.of.Applied) > 0 || len(c.objects[place{key.folder, key.target}]) > 0 ||
			!c.branch.History.Has(hash) {
			continue
		}
		if commits[key.folder] == nil {
			commits[key.folder] = map[plumbing.Hash]bool{}
		}
		commits[key.folder][plumbing.NewHash(hash)] = true
	}
	trees := map[place]map[string]string{}
	for _, folder := range slices.Sorted(maps.Keys(commits)) {
		wants := slices.Collect(maps.Keys(commits[folder]))
		found, err := c.branch.snapshot.History().FoldersAt(c.branch.at.Join(folder), wants)
		if err != nil {
			return nil, fmt.Errorf("the folders of %s can't be read: %w", folder, err)
		}
		for commit, targets := range found {
			names := map[string]string{}
			for name, hash := range targets {
				names[name] = hash.String()
			}
			trees[place{folder, commit.String()}] = names
		}
	}
	return trees, nil
}
