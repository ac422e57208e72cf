package remote

import (
	"context"
	"time"
)

// WithMaxRead sets the bound of the bytes of one fetch.
func WithMaxRead(bytes int64) Option { return func(s *settings) { s.maxRead = bytes } }

// WithMaxRefList sets the bound of the bytes of a server's list of references.
func WithMaxRefList(bytes int64) Option { return func(s *settings) { s.maxRefList = bytes } }

// WithHeaderTimeout sets the time until a server begins to answer.
func WithHeaderTimeout(d time.Duration) Option { return func(s *settings) { s.answerTimeout = d } }

// WithSleep sets the function that waits before a request is sent again.
func WithSleep(wait func(ctx context.Context, d time.Duration) error) Option {
	return func(s *settings) { s.wait = wait }
}
