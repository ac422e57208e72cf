package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// changes are the changes that are measured. Each changes one config value.
var changes = []change{
	{"one-cluster-type", "one config value of one cluster type", ofOneClusterType, "1.2"},
	{"all", "one config value that reaches all", ofAll, "1.2"},
}

// delivered are the changes whose delivery is measured on its own. The value of a workload affects many cluster types.
var delivered = append([]change{{"one-workload", "one config value of one workload", ofOneWorkload, ""}}, changes...)

// change is a change of one value in the first config that which selects. bound is the bound for its apply: the
// ratio to two first plans, or to the first apply for a change that reaches all.
type change struct {
	name, what string
	which      func(*fleet.Config) bool
	bound      string
}

// pushing measures deliveries without the rendering: to an empty bare repo, compared with git's own tools, and after
// changes.
func (b *bench) pushing() {
	for _, name := range []string{fleet10k, fleet100k} {
		f := load(name)
		t := build(f)
		for range b.runs {
			b.deliveries(name, f, t)
		}
		bound := ""
		if name == fleet100k {
			bound = "1.0"
		}
		b.addDelivery(name, "`"+name+"` written and pushed to an empty bare repo", bound)
		for _, c := range delivered {
			bound := "" // only small changes have a bound: people wait for them as they wait for their own git push
			if c.name != "all" {
				bound = "1.0"
			}
			b.addDelivery(name+"/"+c.name, c.what+" changed, then the same", bound)
		}
	}
}

// addDelivery adds the row of a delivery, which is compared with git's own tools.
func (b *bench) addDelivery(name, what, bound string) {
	b.compare(what, "deliver/"+name, "`git fast-import` + `git push`", "git/"+name, bound)
}

// gitTools are an empty bare repo and a repo beside it, from which git's own tools deliver trees.
type gitTools struct {
	work, bare string
	delivered  map[string]string // content of the files by path
}

func newGitTools(dir string) *gitTools {
	return &gitTools{newRepo(dir, "work"), newRepo(dir, "bare.git"), map[string]string{}}
}

// newRepo creates a bare repo in a folder, and returns its path.
func newRepo(dir, name string) string {
	repo := filepath.Join(dir, name)
	git(nil, dir, "init", "-q", "--bare", name)
	return repo
}

// deliver commits the changed files of a tree with git fast-import, and pushes the commit.
func (g *gitTools) deliver(t *tree.Tree) sample {
	var stream bytes.Buffer
	fmt.Fprint(&stream, "commit refs/heads/main\ncommitter bench <bench@localhost> 0 +0000\ndata 1\nx\n")
	if len(g.delivered) > 0 {
		fmt.Fprint(&stream, "from refs/heads/main^0\n")
	}
	for i, folder := range t.Folders {
		for f := range t.Files(i) {
			path, content := folder.ClusterType+"/"+f.Path, string(f.Content)
			if was, existing := g.delivered[path]; existing && was == content {
				continue
			}
			g.delivered[path] = content
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		}
	}
	return timed(func() {
		git(stream.Bytes(), g.work, "fast-import", "--quiet")
		git(nil, g.work, "push", "-q", "file://"+g.bare, "main")
	})
}

// git runs git in a folder, and returns its output.
func git(stdin []byte, dir string, args ...string) string {
	return must(gitserver.RunWith(dir, stdin, args...))
}

// deliveries measures a first delivery, and one after each change, and the same with git's own tools.
func (b *bench) deliveries(name string, f *fleet.Fleet, t *tree.Tree) {
	scratch := must(os.MkdirTemp(b.scratch, "gitops-"))
	defer os.RemoveAll(scratch)
	bare, tools := newRepo(scratch, "gitops.git"), newGitTools(scratch)
	client := must(gitremote.NewClient(nil))
	arguments := delivery.Arguments{
		Strategy:     destination.Push,
		Destination:  destination.Destination{Repo: "file://" + bare, Branch: "main", Path: "."},
		Environment:  f.Environment,
		Fleet:        f,
		CreateBranch: true,
		Guardrails:   delivery.Guardrails{MaxRemoved: delivery.DefaultMaxRemoved},
		Author:       gitbranch.Author{Name: "bench", Email: "bench@localhost", When: time.Unix(0, 0)},
	}
	var state *delivery.State
	deliver := func(name string) {
		b.measure("git/"+name, func() sample { return tools.deliver(t) })
		b.measure("deliver/"+name, func() sample {
			return timed(func() {
				decision := delivery.Decide(delivery.NewRendered(&arguments, t), nil, state)
				result := must(remote.Deliver(context.Background(), client, decision.All().Next, state, nil))
				expect("whether "+name+" was pushed", result.Pushed, true)
				state = result.State
			})
		})
		checkBranch(bare, "main", t)
	}
	deliver(name)
	for _, c := range delivered {
		f = changed(f, c.which, "changed")
		t = build(f)
		deliver(name + "/" + c.name)
	}
}
