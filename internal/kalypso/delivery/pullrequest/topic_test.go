package pullrequest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestCommit: our commit has the message and the trailer. The title of the pull request is the first line of the
// message, cut to the host's limit. Its text contains the marker.
func TestCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.value = strings.Repeat("ü 𝄞 ", 100)
	w.must()
	message := gitserver.Git(t, w.local, "log", "-1", "--format=%B", w.branch())
	want := "Set " + w.value + "\n\nMore.\n\n" + pullrequest.Trailer(marker, w.value)
	if diff := cmp.Diff(want, strings.TrimSpace(message)); diff != "" {
		t.Errorf("message (-want +got)\n%s", diff)
	}
	p := w.people.PullRequests()[0]
	if n := len([]rune(p.Title)); n > 256 || n < 190 || !strings.HasPrefix(p.Title, "Set ü 𝄞") ||
		!strings.HasSuffix(p.Title, "…") {
		t.Errorf("the title has %d characters: %s", n, p.Title)
	}
	if want := "It sets " + strings.TrimSpace(w.value) + "\n\n" + marker + "\n"; p.Body != want {
		t.Errorf("the description is %q, want %q", p.Body, want)
	}
}

// TestOtherCommits lists the foreign commits on our branch.
func TestOtherCommits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule string
		with func(*world)
		want string
	}{
		{"no foreign commits", func(*world) {}, ""},
		{"people pushed", func(w *world) { w.push(w.branch(), "note.txt", "1"); w.push(w.branch(), file, "9") },
			"value.txt, note.txt"},
		{"people merged the target into our branch",
			func(w *world) { w.push("main", "apps.txt", "1"); w.mergeTarget() }, ""},
		{"people rebased our branch without a commit of their own", func(w *world) {
			w.push("main", "apps.txt", "1")
			w.rebaseOn("main", false)
		}, ""},
		{"people rebased our branch onto a commit of their own",
			func(w *world) { w.push("main", "apps.txt", "1"); w.rebase() },
			"the branch was rebased, and contains other people's commits below ours"},
		{"people rebased our branch, and pushed", func(w *world) {
			w.push("main", "apps.txt", "1")
			w.rebaseOn("main", false)
			w.push(w.branch(), file, "9")
		}, "the branch was rebased, and contains other people's commits on top of ours"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.must()
			pushed := w.head()
			test.with(w)
			others, got, err := w.topic().OwnBranch.OtherCommits(t.Context(), pushed)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range others {
				got += strings.Repeat(", ", min(i, 1)) + strings.Join(c.Paths, " ")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestCheck: a plan reports what an apply would refuse, without a request to the host.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule string
		with func(*world)
		want string
	}{
		{"no pull request", func(*world) {}, ""},
		{"open pull request, older value", func(w *world) { w.must(); w.value = "2" }, ""},
		{"people pushed the desired value, and the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), file, "2")
			w.loseState()
			w.value = "2"
		}, ""},
		{"people pushed, and the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.loseState()
			w.value = "2"
		}, "people pushed to the branch"},
		{"people rebased our commit onto a commit of their own, and the state is lost", func(w *world) {
			w.must()
			w.rebase()
			w.loseState()
			w.value = "2"
		}, "people pushed to the branch"},
		{"a foreign branch has the name of our branch", func(w *world) { w.push(w.branch(), "note.txt", "theirs") },
			"the branch is not ours"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			onEachHost(t, func(w *world) {
				test.with(w)
				before := w.head()
				topic := w.topic()
				found, err := topic.Find(w.ctx, nil)
				if err != nil {
					w.Fatal(err)
				}
				requests := w.on.Requests()
				ours, err := topic.OwnBranch.Snapshot(w.ctx)
				if err != nil {
					w.Fatal(err)
				}
				defer ours.Close()
				compared, err := w.compareOurs(w.ctx, topic, ours, "")
				if err == nil {
					err = topic.Check(found, compared)
				}
				got := ""
				if err != nil {
					got = errorText(err)
				}
				if got != test.want {
					w.Errorf("got %q, want %q", got, test.want)
				}
				if w.on.Requests() != requests || w.head() != before {
					w.Error("the check sent a request to the host, or moved our branch")
				}
			})
		})
	}
}

// TestClose: if a proposal is dropped, its pull request is closed. Our branch is deleted unless it contains foreign
// commits.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule string
		with func(*world)
		want string
	}{
		{"open pull request", func(*world) {}, `
1 closed "Set 1"
main: nothing
ours: none
host: close`},
		{"people closed the pull request", func(w *world) { w.people.Close(w, 1); w.known.Open = false }, `
1 closed "Set 1"
main: nothing
ours: none
host: `},
		{"people pushed", func(w *world) { w.push(w.branch(), "note.txt", "theirs") }, `
1 closed "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: close`},
		{"people pushed, and the state contains their commit", func(w *world) {
			w.push(w.branch(), "note.txt", "theirs")
			w.known.Head = w.head()
		}, `
1 closed "Set 1"
main: nothing
ours: none
host: close`},
		{"people merged the pull request", func(w *world) { w.people.Merge(w, 1, "squash") }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: close
error: the pull request was opened, merged or closed in the meantime`},
		{"people deleted our branch", func(w *world) { w.deleteBranch(w.branch()) }, `
1 closed "Set 1"
main: nothing
ours: none
host: close`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			onEachHost(t, func(w *world) {
				w.must()
				test.with(w)
				w.resetLog()
				w.expect(test.want, w.topic().Close(w.ctx, nil, w.known))
			})
		})
	}
}

// TestRead: if the target branch of a pull request was changed, the pull request counts as closed, whatever its state
// on the host.
func TestRead(t *testing.T) {
	t.Parallel()
	onEachHost(t, func(w *world) {
		w.must()
		w.branchOff("live")
		expect := func(want githost.PullRequestState) {
			w.Helper()
			pr, err := w.topic().Read(w.ctx, 1)
			if err != nil || pr.State != want {
				w.Errorf("got %+v, %v, want %s", pr, err, want)
			}
		}
		expect(githost.Open)
		w.people.Retarget(w, 1, "live")
		expect(githost.Closed)
		w.people.Retarget(w, 1, "main")
		expect(githost.Open)
		w.people.Retarget(w, 1, "live")
		w.people.Merge(w, 1, "squash")
		expect(githost.Closed)
	})
}

// TestDraftSubject: hosts make a pull request a draft if its title begins with a word such as "Draft:". If the subject
// of our commit begins so, the pull request is still no draft, even if the host sees the push after our edit.
func TestDraftSubject(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"Draft: ", "[draft] ", "fixup! ", "Apply squash! "} {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			onEachHost(t, func(w *world) {
				w.subject = subject
				w.must()
				w.propose("2")
				for range 5 {
					pr, err := w.topic().Read(w.ctx, 1)
					if err != nil || pr.Draft || pr.Title != w.title() {
						w.Fatalf("the pull request is %+v, %v", pr, err)
					}
				}
			})
		})
	}
}

// TestWithhold: a pull request that must not be merged becomes a draft without our auto-merge, with the reason in its
// text. The text also contains what people wrote. GitLab must not run this as a quick action with our rights, even if
// its slash is indented or follows our marker. The next run undoes all this.
func TestWithhold(t *testing.T) {
	t.Parallel()
	onEachHost(t, func(w *world) {
		w.people.Require("main", "ci")
		w.settings.AutoMerge = githost.Squash
		w.must()
		w.people.Edit(w, 1, "Mine", "  /merge\n"+marker+"/close\n"+marker+"\n\r/approve\nfine")
		if _, err := w.topic().Withhold(w.ctx, w.known, "/merge is not due"); err != nil {
			w.Fatal(err)
		}
		now := w.people.PullRequests()[0]
		if !now.Draft || now.State != githost.Open || now.AutoMerge != "" || !strings.Contains(now.Body, "fine") ||
			// on some hosts, the text begins with the marker
			!strings.HasPrefix(strings.TrimPrefix(now.Body, marker+"\n\n"), "**Do not merge") {
			w.Errorf("withheld: %+v", now)
		}
		w.must()
		now = w.people.PullRequests()[0]
		if now.Draft || now.AutoMerge == "" || strings.Contains(now.Body, "Do not merge") || now.Title != "Set 1" {
			w.Errorf("after the next run: %+v", now)
		}
	})
}

// TestBranchName: the name of a branch is valid in Git, and each marker has its own. No name is a folder of another
// branch's name, which Git does not allow.
func TestBranchName(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{
		{"dev"}, {"dev", "main"}, {"dev-main"}, {"a..b", "feature/ü", "..."}, {"ü"}, {"-", "@{", ".lock"}, {"é"},
		{strings.Repeat("e", 300), strings.Repeat("b", 300)},
	} {
		for _, prefix := range []string{"deployment/", "", "a/b-"} {
			name := pullrequest.BranchName(prefix, strings.Join(parts, "|"), parts...)
			if err := gitbranch.CheckName(name); err != nil || len(name) > 100 {
				t.Errorf("%q: %q, %v", parts, name, err)
			}
			if seen[name] || strings.Contains(strings.TrimPrefix(name, prefix), "/") {
				t.Errorf("%q occurs twice, or could be in the folder of another branch", name)
			}
			seen[name] = true
		}
	}
	for prefix, ok := range map[string]bool{
		"": true, "ours/": true, "-": false, "a..b/": false, "/": false, "refs/": false, "x y": false,
	} {
		if err := pullrequest.CheckBranchPrefix(prefix); (err == nil) != ok {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}
