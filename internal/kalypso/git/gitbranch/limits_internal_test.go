package gitbranch

import "context"

// WithMaxAttempts sets how many attempts there are.
func (o PushOptions) WithMaxAttempts(n int) PushOptions {
	o.maxAttempts = n
	return o
}

// WithPackBuffer sets how much of the pack is kept in memory.
func (o PushOptions) WithPackBuffer(bytes int) PushOptions {
	o.packBuffer = bytes
	return o
}

// WithBackoff sets the function that waits before another attempt.
func (o PushOptions) WithBackoff(wait func(ctx context.Context, attempt int) error) PushOptions {
	o.backoff = wait
	return o
}
