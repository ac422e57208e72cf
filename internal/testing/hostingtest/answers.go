package hostingtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

var answers = []row{
	{"an answer that repeats the credential is shown without it", func(p *place) {
		for form, encode := range map[string]func(header string) any{
			"message": func(header string) any { return map[string]any{"message": "refused: " + header} },
			"field":   func(header string) any { return map[string]any{"message": map[string]any{header: []string{"bad"}}} },
			"time": func(header string) any { // the error of the decoder repeats it
				return map[string]any{"created_at": header, "updated_at": header, "creationDate": header}
			},
			"times": func(header string) any {
				pr := map[string]any{"created_at": header, "updated_at": header, "creationDate": header}
				return []any{pr}
			},
		} {
			for _, status := range []int{http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusBadGateway} {
				repeats := &repeating{status: status, encode: encode}
				host := p.world.HostOver(p, Writer, repeats)
				repo, err := host.Repo(p.people.URL())
				if err != nil {
					p.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
				for _, op := range operations(p.head("change")) {
					if err := op.do(ctx, repo, hosting.PullRequest{Number: 1, State: hosting.Open}); err != nil {
						for _, credential := range repeats.credentials {
							if strings.Contains(err.Error(), credential) {
								p.Errorf("%s of a %s, HTTP %d: the credential is in the error: %v", form, op.name, status, err)
							}
						}
					}
				}
				cancel()
				if len(repeats.credentials) == 0 {
					p.Errorf("%s, HTTP %d: no request had a credential", form, status)
				}
			}
		}
	}},
}

// repeating is a transport that answers each request with its own credential.
type repeating struct {
	status      int
	encode      func(header string) any
	credentials []string
}

func (r *repeating) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodOptions { // the library of Azure DevOps keeps the answer for all hosts of the process
		return http.DefaultTransport.RoundTrip(req)
	}
	for _, name := range []string{"Authorization", "Private-Token"} {
		header := req.Header.Get(name)
		if header == "" {
			continue
		}
		parts := strings.Fields(header)
		r.credentials = append(r.credentials, parts[len(parts)-1])
		body, err := json.Marshal(r.encode(name + ": " + header))
		if err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
			Header: http.Header{
				"Content-Type": {"application/json"}, "X-Accepted-Github-Permissions": {header}, "Retry-After": {"3600"},
			},
			Body: io.NopCloser(strings.NewReader(string(body))),
		}, nil
	}
	return nil, fmt.Errorf("the request to %s has no credential", req.URL)
}

// operation is one of the operations of a repo.
type operation struct {
	name string
	do   func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error
}

// operations returns all operations that contact the host.
func operations(commit string) []operation {
	content := proposal()
	content.Labels, content.Reviewers = []string{"promoted"}, []string{Ann}
	edited := content
	edited.Title, edited.Body, edited.RemoveLabels = "Other", "Other\n\n"+marker, []string{"old"}
	one := func(_ *hosting.PullRequest, err error) error { return err }
	return []operation{
		{"Open", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			return one(repo.Open(ctx, content))
		}},
		{"Find", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			return one(repo.Find(ctx, query))
		}},
		{"Read", func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error {
			return one(repo.Read(ctx, now.Number))
		}},
		{"Unasked", func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error {
			_, err := repo.Unasked(ctx, now, []string{Ann, Bob})
			return err
		}},
		{"Edit", func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error {
			return one(repo.Edit(ctx, now, edited))
		}},
		{"MergeWhenReady", func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error {
			return one(repo.MergeWhenReady(ctx, now, hosting.Squash))
		}},
		{"Close", func(ctx context.Context, repo hosting.Repo, now hosting.PullRequest) error {
			return one(repo.Close(ctx, now.Number))
		}},
		{"SetStatus", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			_, err := repo.SetStatus(ctx, commit, hosting.Status{Context: "dev", State: hosting.Success})
			return err
		}},
		{"Status", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			_, err := repo.Status(ctx, commit, "dev")
			return err
		}},
		{"LatestStatuses", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			_, err := repo.LatestStatuses(ctx, []string{commit}, []string{"dev"})
			return err
		}},
		{"StatusHistory", func(ctx context.Context, repo hosting.Repo, _ hosting.PullRequest) error {
			_, _, err := repo.StatusHistory(ctx, commit)
			return err
		}},
	}
}
