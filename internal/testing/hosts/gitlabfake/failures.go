package gitlabfake

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// RateLimit returns GitLab's answer to requests that come too fast: plain text, with the seconds to wait (docs).
func RateLimit(retryAfter int) hostfake.Failure {
	return hostfake.Failure{Status: http.StatusTooManyRequests, Body: "Retry later\n",
		Header: map[string]string{"Content-Type": "text/plain", "Retry-After": strconv.Itoa(retryAfter)}}
}

// Error returns an answer with a status and a message.
func Error(status int, message string) hostfake.Failure {
	return hostfake.Failure{Status: status, Body: fmt.Sprintf(`{"message":%q}`, message)}
}
