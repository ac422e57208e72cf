package hostingtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

var recordAnswers = flag.Bool("record-answers", false, "record the answers of the host that FuzzAnswers changes")

// recording is the answers of a host to all operations on a repo.
type recording struct {
	URL, Repo string // of the host, and of the repo
	Commit    string
	Done      []recordedOperation
}

// recordedOperation is an operation on a pull request or on an issue, with its exchanges.
type recordedOperation struct {
	Name      string
	Now       githost.PullRequest
	Issue     int `json:",omitempty"` // the number of the issue
	Exchanges []recordedExchange
}

type recordedExchange struct {
	Key    string
	Status int
	Header http.Header
	Body   string
}

// recordingFile is the recording of the package of a host.
var recordingFile = filepath.Join("testdata", "answers.json")

// CheckRecording fails the test if the operations on a host send other requests than [FuzzAnswers] knows. With the flag
// -record-answers, it records them again.
func CheckRecording(t *testing.T, newWorld func(t *testing.T) *World) {
	t.Helper()
	p := newPlace(t, newWorld(t))
	made := recording{URL: p.world.URL, Repo: p.people.URL, Commit: p.local.head("change")}
	for _, op := range operations(made.Commit, p.repo.Issues != nil) {
		recorder := &recorder{}
		repo := p.over(roundTripper(recorder.record))
		one := recordedOperation{Name: op.name, Issue: p.newestIssue()}
		if len(made.Done) > 0 {
			one.Now = p.Must(p.repo.Find(p.ctx, Query))
		}
		if err := op.do(call{p.ctx, repo, one.Now, one.Issue}); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		for _, e := range recorder.exchanges {
			one.Exchanges = append(one.Exchanges, recordedExchange{e.key, e.status, e.header, e.body})
		}
		made.Done = append(made.Done, one)
	}
	if *recordAnswers {
		text, err := json.MarshalIndent(made, "", " ")
		if err == nil {
			err = os.WriteFile(recordingFile, append(text, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readRecording(t).methods(), made.methods()); diff != "" {
		t.Errorf("the requests differ from %s, record them with -record-answers (-recorded +now):\n%s", recordingFile, diff)
	}
}

func readRecording(t testing.TB) (r recording) {
	t.Helper()
	text, err := os.ReadFile(recordingFile)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// methods returns the methods of the requests of each operation. The library of Azure DevOps sends OPTIONS once in a
// process.
func (r recording) methods() map[string][]string {
	all := map[string][]string{}
	for _, op := range r.Done {
		for _, e := range op.Exchanges {
			if method, _, _ := strings.Cut(e.Key, " "); method != http.MethodOptions {
				all[op.Name] = append(all[op.Name], method)
			}
		}
		slices.Sort(all[op.Name]) // some are sent at the same time
	}
	return all
}

// roundTripper answers all requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }

// fuzzedToken is a credential that no error may contain.
const fuzzedToken = "canary-0123456789-token"

// maxErrorText bounds the text of an error about an answer, in bytes.
const maxErrorText = 64 << 10

// FuzzAnswers does each operation on recorded answers, of which one has another status and body. It ends without a
// panic, soon, and with a result or an error of the host that is text and contains no credential.
func FuzzAnswers(f *testing.F, open func(httpapi.Access) (githost.Host, error)) {
	f.Helper()
	r := readRecording(f)
	all := operations(r.Commit, true) // in the order of the recording
	var seeds [][2]int
	for i, op := range r.Done {
		for at, e := range op.Exchanges {
			seeds = append(seeds, [2]int{i, at})
			f.Add(uint(len(seeds)-1), e.Status, e.Body)
		}
	}
	for _, body := range []string{
		"null", "[null]", "[{}]", "{}", "", `{"message":"` + fuzzedToken + `"}`, "<html>", "[[", "{} {}",
	} {
		for _, status := range []int{200, 201, 204, 302, 401, 403, 404, 409, 422, 429, 502} {
			f.Add(uint(len(body)*status), status, body)
		}
	}
	f.Fuzz(func(t *testing.T, n uint, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		at := seeds[n%uint(len(seeds))]
		recorded := r.Done[at[0]]
		var exchanges []exchange
		for _, e := range recorded.Exchanges {
			exchanges = append(exchanges, exchange{e.Key, e.Status, e.Header, e.Body})
		}
		exchanges[at[1]].status, exchanges[at[1]].body = status, body
		host, err := open(httpapi.Access{
			Token: fuzzedToken, BaseURL: r.URL, Credential: "token", Clock: NewClock(time.Unix(1_700_000_000, 0)),
			Transport: roundTripper(replay(exchanges)),
		})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := host.Repo(r.Repo)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = all[at[0]].do(call{ctx, repo, recorded.Now, recorded.Issue})
		var failed *githost.Error
		switch {
		case ctx.Err() != nil:
			t.Errorf("it does not end: %v", err)
		case err == nil:
		case !errors.As(err, &failed) || failed.Host == "" || failed.Kind == nil:
			t.Errorf("the error %v is not one of the host", err)
		case strings.Contains(err.Error(), fuzzedToken):
			t.Errorf("the credential is in the error: %v", err)
		case !utf8.ValidString(err.Error()) || len(err.Error()) > maxErrorText:
			t.Errorf("the error is no text, or too long: %d bytes, %.300q", len(err.Error()), err.Error())
		}
	})
}
