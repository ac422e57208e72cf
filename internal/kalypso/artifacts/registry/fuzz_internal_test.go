package registry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// answering answers all requests.
type answering func(*http.Request) *http.Response

// RoundTrip implements [http.RoundTripper].
func (a answering) RoundTrip(req *http.Request) (*http.Response, error) { return a(req), nil }

// FuzzErrors: whatever a registry answers, an operation ends with a result or with an error of the registry. The error
// is text of bounded length, and does not contain the credential, which the registry may repeat.
func FuzzErrors(f *testing.F) {
	const secret = "canary-0123456789"
	for _, status := range []int{200, 202, 301, 307, 400, 401, 403, 404, 405, 416, 429, 500, 503} {
		for _, body := range []string{
			"", "null", `{"errors":[{"code":"DENIED","message":"no ` + secret + `","detail":{"a":["` + secret + `"]}}]}`, "[[",
			`{"errors":[{"code":"` + secret + `"}]}`, `{"errors":[{"code":1}]}`, `{"errors":null}`,
			"<html>" + secret, "\xff\x1b[2J",
			`{"errors":[` + strings.Repeat(`{"message":"x"},`, 300) + `{"code":"BLOB_UNKNOWN"}]}`, `{"token":"` + secret + `"}`,
		} {
			f.Add(status, `Bearer realm="https://registry.acme.test/token",service="`+secret+`",scope="x"`, "/v2/x", body)
			f.Add(status, `Basic realm="`+secret+`"`, "http://other.acme.test/"+secret, body)
		}
	}
	r, err := ParseRepository("oci://registry.acme.test/acme/fleet")
	if err != nil {
		f.Fatal(err)
	}
	at := ocispec.Descriptor{
		MediaType: ocispec.MediaTypeImageManifest, Size: 2,
		Digest: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
	}
	operations := map[string]func(context.Context, *remote.Repository) error{
		"resolve": func(ctx context.Context, repo *remote.Repository) error {
			_, err := repo.Resolve(ctx, "latest")
			return err
		},
		"read": func(ctx context.Context, repo *remote.Repository) error {
			_, _, err := FetchManifest(ctx, repo, at)
			return err
		},
		"push": func(ctx context.Context, repo *remote.Repository) error {
			return repo.Push(ctx, at, strings.NewReader("{}"))
		},
		"delete": func(ctx context.Context, repo *remote.Repository) error { return DeleteTag(ctx, repo, "latest") },
	}
	f.Fuzz(func(t *testing.T, status int, challenge, location, body string) {
		if status < 200 || status > 599 {
			return
		}
		header := http.Header{"Www-Authenticate": {challenge}, "Location": {location}, "Content-Type": {"application/json"},
			"Docker-Content-Digest": {body}}
		answers := 0
		transport := answering(func(req *http.Request) *http.Response {
			code := status
			answers++
			if answers > 3 { // a request is repeated until the context ends
				code = http.StatusNotFound
			}
			return &http.Response{
				StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: header.Clone(),
				Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
			}
		})
		for op, do := range operations {
			answers = 0
			login := Credential{URL: "oci://registry.acme.test", Username: "kalypso", Password: secret}.Parse(
				func(field, reason string) { t.Fatal(field, reason) })
			c := New([]*Login{login}, httpapi.Access{
				Transport: transport, Clock: hostingtest.NewClock(time.Unix(1_700_000_000, 0)), UserAgent: "test",
			})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			repo, err := c.Open(ctx, r)
			if err == nil {
				err = c.Error(r, op, do(ctx, repo))
			}
			ended := ctx.Err() == nil
			cancel()
			var failed *githost.Error
			switch {
			case !ended:
				t.Errorf("%s does not end: %v", op, err)
			case err == nil:
			case !errors.As(err, &failed) || failed.Host == "" || failed.Kind == nil:
				t.Errorf("%s: the error %v is not one of the registry", op, err)
			case strings.Contains(err.Error(), secret):
				t.Errorf("%s: the error contains the credential: %v", op, err)
			case !utf8.ValidString(err.Error()) || len(err.Error()) > 64<<10:
				t.Errorf("%s: the error is no text, or has %d bytes: %.300q", op, len(err.Error()), err.Error())
			}
		}
	})
}
