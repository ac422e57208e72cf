package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// call sends a request for a path below the repo, and decodes its answer unless into is nil.
func (r *repo) call(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	return r.client.call(ctx, method, "/repos/"+r.owner+"/"+r.name+path, body, into)
}

// call sends a request to the API. It returns the headers of the answer.
func (c *Client) call(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.web.String()+apiPath+path, &content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if into != nil {
		err = json.Unmarshal(answer, into)
	}
	// Gitea returns null for some empty lists.
	isList := into != nil && reflect.ValueOf(into).Elem().Kind() != reflect.Struct
	if err == nil && !isList && string(bytes.TrimSpace(answer)) == "null" {
		err = errors.New("the server's answer is null")
	}
	return resp.Header, err
}

// message returns the message of an error answer, on one line.
func message(body []byte) string {
	var answer struct {
		Message string
		Errors  []string
	}
	_ = json.Unmarshal(body, &answer) // an answer that is not from Gitea has no message
	return strings.Join(strings.Fields(strings.Join(append([]string{answer.Message}, answer.Errors...), ": ")), " ")
}

// Gitea's messages that distinguish errors with the same status.
var (
	saysScheduled = regexp.MustCompile("already scheduled")
	saysLater     = regexp.MustCompile("try again later|out of date")
)

// kinds are the kinds of errors with the same status.
var kinds = []httpapi.MessageKind{
	{Says: regexp.MustCompile("not allowed to merge"), Kind: githost.ErrForbidden},
	{Says: regexp.MustCompile("pull request already exists"), Kind: githost.ErrExists},
}

// advise adds advice on a missing permission.
func advise(e *githost.Error, _ *http.Response) {
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Grant = "Give the token the scopes write:repository, write:issue and read:user, and its user the right to write " +
			"to the repo."
	}
}

// as replaces the kind of an [githost.ErrNotVisible] by other, if the repo itself is visible. Gitea gives the same
// answer for an absent repo and for an absent part of a repo.
func (r *repo) as(ctx context.Context, other error, err error) error {
	var e *githost.Error
	if !errors.Is(err, githost.ErrNotVisible) || !errors.As(err, &e) {
		return err
	}
	if _, hidden := r.settings(ctx); hidden != nil {
		return err
	}
	e.Kind = other
	return err
}

// settings are the settings of a repo that matter here.
type settings struct {
	Empty  bool
	Merge  bool `json:"allow_merge_commits"`
	Squash bool `json:"allow_squash_merge"`
	Rebase bool `json:"allow_rebase"`
}

// allows reports whether the settings allow a merge method. Gitea would schedule another merge too, but never merge.
func (s settings) allows(method githost.MergeMethod) bool {
	allowed := map[githost.MergeMethod]bool{githost.Merge: s.Merge, githost.Squash: s.Squash, githost.Rebase: s.Rebase}
	return allowed[method]
}

func (r *repo) settings(ctx context.Context) (settings, error) {
	var s settings
	_, err := r.call(ctx, http.MethodGet, "", nil, &s)
	return s, err
}

type user struct{ Login string }

// list is a list that Gitea returns in pages.
type list struct {
	path  string
	query url.Values
	pages int // the number of pages to read
	// uncounted says that the total in the answers is only the number of entries on the page.
	uncounted bool
}

// pageSize is the number of entries on a page, unless Gitea's settings have a smaller one.
const pageSize = 50

// each calls f with the entries of a list, until f returns true or the list ends. more reports whether the list has
// more pages than are read.
func each[T any](ctx context.Context, r *repo, l list, f func(entry T) (done bool)) (more bool, err error) {
	return httpapi.EachPage(pageSize, l.pages*pageSize, func(p httpapi.Page) (int, bool, error) {
		query := url.Values{"limit": {strconv.Itoa(p.Size)}}
		maps.Copy(query, l.query)
		query.Set("page", strconv.Itoa(p.Number))
		var entries []T
		header, err := r.call(ctx, http.MethodGet, l.path+"?"+query.Encode(), nil, &entries)
		if err != nil {
			return 0, false, err
		}
		if slices.ContainsFunc(entries, f) {
			return 0, false, nil
		}
		more := true
		if total, err := strconv.Atoi(header.Get("X-Total-Count")); err == nil && !l.uncounted {
			more = p.Start+len(entries) < total
		}
		return len(entries), more, nil
	})
}
