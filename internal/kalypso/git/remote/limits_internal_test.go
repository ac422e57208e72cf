package remote

import (
	"context"
	"time"
)

// WithMaxRead sets how many bytes a fetch may read.
func WithMaxRead(bytes int64) Option { return func(c *Client) { c.maxRead = bytes } }

// WithMaxRefList sets how many bytes a server's list of references may have.
func WithMaxRefList(bytes int64) Option { return func(c *Client) { c.maxRefList = bytes } }

// WithHeaderTimeout sets how long a server may take to begin its answer.
func WithHeaderTimeout(d time.Duration) Option { return func(c *Client) { c.answerTimeout = d } }

// WithSleep sets the function that waits before a request is sent again.
func WithSleep(wait func(ctx context.Context, d time.Duration) error) Option {
	return func(c *Client) { c.wait = wait }
}
