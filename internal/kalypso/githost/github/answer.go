package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// limited reports whether an answer signals a rate limit, and returns when the limit ends, if GitHub says so. It checks
// status and headers itself: go-github reports a 429 as a generic error, and recognizes a secondary limit by an
// outdated address.
func limited(resp *http.Response, body []byte) (reset time.Time, limited bool) {
	usedUp := resp.Header.Get("X-RateLimit-Remaining") == "0"
	switch resp.StatusCode {
	case http.StatusForbidden:
		a := parseAnswer(body)
		_, saysWhen := clock.RetryAfter(resp.Header, time.Time{})
		limited = saysWhen || usedUp ||
			strings.Contains(a.DocumentationURL, "rate-limit") || strings.Contains(strings.ToLower(a.Message), "rate limit")
	case http.StatusOK: // GraphQL's errors
		limited = strings.HasSuffix(resp.Request.URL.Path, "/graphql") && parseAnswer(body).of("RATE_LIMITED")
	}
	if seconds, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && usedUp {
		reset = time.Unix(seconds, 0)
	}
	return reset, limited
}

// errorAnswer is an error answer, of REST or GraphQL.
type errorAnswer struct {
	Message          string        `json:"message"`
	DocumentationURL string        `json:"documentation_url"`
	Errors           []errorDetail `json:"errors"`
}

// errorDetail is one of the errors in an answer.
type errorDetail struct {
	Type, Resource, Field, Code, Message string
}

func parseAnswer(data []byte) errorAnswer {
	var a errorAnswer
	_ = json.Unmarshal(data, &a) // an answer that is not JSON has no message
	return a
}

// UnmarshalJSON reads an error, which may be a plain string. It never fails.
func (d *errorDetail) UnmarshalJSON(data []byte) error {
	type fields errorDetail
	if json.Unmarshal(data, (*fields)(d)) != nil {
		_ = json.Unmarshal(data, &d.Message)
	}
	return nil
}

func (a errorAnswer) of(kind string) bool {
	return slices.ContainsFunc(a.Errors, func(p errorDetail) bool { return p.Type == kind })
}

// text returns the messages of an answer, on one line.
func (a errorAnswer) text() string {
	texts := []string{a.Message}
	for _, p := range a.Errors {
		if p.Message == "" {
			p.Message = strings.Join(strings.Fields(p.Resource+" "+p.Field+" "+p.Code), " ")
		}
		texts = append(texts, p.Message)
	}
	if texts[0] == "" {
		texts = texts[1:]
	}
	return strings.Join(strings.Fields(strings.Join(texts, ": ")), " ")
}
