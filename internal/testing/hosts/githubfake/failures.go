package githubfake

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// PrimaryRateLimit returns GitHub's answer to a token whose requests of the hour are used up: 403 or 429.
func PrimaryRateLimit(status int, reset time.Time) hostfake.Failure {
	return hostfake.Failure{Status: status,
		Body: `{"message":"API rate limit exceeded for user ID 1. If you reach out to GitHub Support for help, ` +
			`please include the request ID.",` +
			`"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}`,
		Header: map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0",
			"X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10)}}
}

// SecondaryRateLimit returns GitHub's answer to requests that come too fast: 403 or 429, with the seconds to wait, or
// none (0).
func SecondaryRateLimit(status, retryAfter int) hostfake.Failure {
	f := ServerError(status, retryAfter)
	const page = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	f.Body = `{"documentation_url":"` + page + `",` +
		`"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	return f
}

// ServerError returns an answer with a status and the seconds to wait, or none (0).
func ServerError(status, retryAfter int) hostfake.Failure {
	f := hostfake.Failure{
		Status: status, Body: fmt.Sprintf(`{"message":%q}`, http.StatusText(status)), Header: map[string]string{},
	}
	if retryAfter > 0 {
		f.Header["Retry-After"] = strconv.Itoa(retryAfter)
	}
	return f
}

// Forbidden returns a 403 with this message, which no retry fixes.
func Forbidden(message string) hostfake.Failure {
	return hostfake.Failure{Status: http.StatusForbidden,
		Body: fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com/rest"}`, message)}
}

// GitHub's rejections while it has not processed a push yet.
var (
	// HeadNotSeen rejects a pull request whose branch GitHub does not know yet.
	HeadNotSeen = hostfake.Failure{Status: http.StatusUnprocessableEntity,
		Body: `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"}]}`}
	// HeadNotMoved rejects a merge of a commit that GitHub does not consider the head.
	HeadNotMoved = hostfake.Failure{Status: http.StatusConflict,
		Body: `{"message":"Head branch was modified. Review and try the merge again."}`}
	// BaseMoved rejects a merge into a branch that moved.
	BaseMoved = hostfake.Failure{Status: http.StatusMethodNotAllowed,
		Body: `{"message":"Base branch was modified. Review and try the merge again."}`}
)
