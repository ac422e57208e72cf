package gitremote

import (
	"context"
	"time"
)

// WithMaxRead sets how many bytes a fetch may read.
func WithMaxRead(bytes int64) Option { return func(s *Settings) { s.limits.maxRead = bytes } }

// WithMaxRefList sets how many bytes a server's list of references may have.
func WithMaxRefList(bytes int64) Option { return func(s *Settings) { s.limits.maxRefList = bytes } }

// WithHeaderTimeout sets how long a server may take to begin its answer.
func WithHeaderTimeout(d time.Duration) Option {
	return func(s *Settings) { s.limits.answerTimeout = d }
}

// WithSleep sets the function that waits before a request is sent again.
func WithSleep(wait func(ctx context.Context, d time.Duration) error) Option {
	return func(s *Settings) { s.limits.wait = wait }
}
