package hostingtest

import (
	"errors"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

var access = []row{
	{"a credential that may not see the repo learns nothing", func(p *place) {
		commit := p.local.head("change")
		p.open()
		for credential, kinds := range map[Credential][]error{
			Foreign: {githost.ErrNotVisible}, Wrong: {githost.ErrUnauthenticated},
			None: {githost.ErrNotVisible, githost.ErrUnauthenticated},
		} {
			repo := p.as(credential)
			for _, op := range operations(commit, p.repo.Issues != nil) {
				if op.text == "" {
					continue
				}
				err := op.do(call{p.ctx, repo, githost.PullRequest{Number: 1}, 1})
				at := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
				if e := p.refused(err, kinds[max(at, 0)], "", op.text); e.Credential == "" {
					p.Errorf("%s: %s does not say where the credential is configured", credential, op.name)
				}
			}
		}
	}},
	{"a credential that may read may not write", func(p *place) {
		number := p.open().Number
		repo := p.as(Reader)
		if pr, err := repo.Read(p.ctx, number); err != nil || pr.Number != number {
			p.Errorf("read %v, %v", pr, err)
		}
		if pr, err := repo.Find(p.ctx, Query); err != nil || pr == nil || pr.Number != number {
			p.Errorf("found %v, %v", pr, err)
		}
		_, err := repo.SetStatus(p.ctx, p.local.head("change"), githost.Status{Context: "dev", State: githost.Success})
		e := p.refused(err, githost.ErrForbidden, "", "set status dev")
		if p.traits.Grant == "" || !strings.Contains(e.Grant, p.traits.Grant) {
			p.Errorf("it advises %q", e.Grant)
		}
	}},
	{"Git takes the credential of the API", func(p *place) {
		user, password, bearer, err := p.repo.GitCredential(p.ctx)
		if err != nil || password == "" && bearer == "" || user == "" && bearer == "" {
			p.Fatal("the credential is incomplete", err)
		}
		address := strings.Replace(p.people.URL, "://", "://"+user+":"+password+"@", 1)
		if bearer == "" && !strings.Contains(p.local.git("ls-remote", address), p.local.head("change")) {
			p.Error("Git does not see the branch")
		}
		if user, password, bearer, err := p.as(None).GitCredential(p.ctx); user+password+bearer != "" || err != nil {
			p.Error("there is a credential", err)
		}
	}},
	{"its web pages", func(p *place) {
		p.asking(0, func() {
			repo := strings.TrimSuffix(p.people.URL, ".git") + "/"
			for _, page := range []string{p.repo.CommitURL("abc"), p.repo.CompareURL("abc", "def")} {
				if !strings.HasPrefix(page, repo) || !strings.Contains(page, "abc") {
					p.Errorf("the page is %s", page)
				}
			}
		})
	}},
	{"a repo of another server", func(p *place) {
		host := p.world.Host(p, Writer)
		p.asking(0, func() {
			for _, url := range []string{
				"https://forge.evil.io/acme/gitops", "git@forge.evil.io:acme/gitops.git", p.people.URL + "/../..",
				"/srv/git/gitops",
			} {
				repo, err := host.Repo(url)
				if err == nil {
					p.Errorf("%s is %v", url, repo)
				}
			}
			_, err := host.Repo("https://forge.evil.io/acme/gitops")
			p.refused(err, githost.ErrOtherHost, "", "forge.evil.io")
		})
	}},
}
