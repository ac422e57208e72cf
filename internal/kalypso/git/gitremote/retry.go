package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// retries limits how often a request is repeated if the server could not answer it. A request that sent a pack is never
// repeated.
const retries = 3

// retry repeats an attempt while the server is busy or drops the connection, as long as the wait ends before the
// deadline of ctx.
func (r *Remote) retry(ctx context.Context, attempt func() error) error {
	for done := 1; ; done++ {
		err := attempt()
		if err == nil || r.at.IsLocal() || ctx.Err() != nil || !transient(err) {
			return err
		}
		wait := backoff(done)
		if answer, ok := errors.AsType[*statusError](err); ok && answer.asks {
			wait = answer.wait
		}
		switch {
		case done > retries:
			return fmt.Errorf("%w (%d attempts)", err, done)
		case !fitsDeadline(ctx, wait):
			return fmt.Errorf("%w (attempt %d; the next one, due in %s, would exceed the timeout)", err, done,
				wait.Round(time.Second))
		}
		if err := r.client.settings.limits.wait(ctx, wait); err != nil {
			return err
		}
	}
}

// fitsDeadline reports whether a wait that starts now ends before the deadline of ctx.
func fitsDeadline(ctx context.Context, wait time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	end, _ := waiting.Deadline()
	deadline, bounded := ctx.Deadline()
	return !bounded || end.Before(deadline)
}

// backoff returns the wait after a number of attempts: half a second, one second, two seconds, randomized so that the
// clients of a restarting server do not return all at once.
func backoff(attempts int) time.Duration {
	longest := clock.Backoff(750*time.Millisecond, time.Minute, attempts)
	return longest/3 + rand.N(longest*2/3)
}

// transient reports whether another attempt may succeed: the server is busy, or the connection broke.
func transient(err error) bool {
	if answer, ok := errors.AsType[*statusError](err); ok {
		return answer.busy
	}
	if _, answered := errors.AsType[*serverError](err); answered || !errors.Is(kindOf(err), ErrUnreachable) {
		return false
	}
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
		syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ECONNREFUSED, syscall.EPIPE,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	text := err.Error()
	for _, broken := range []string{
		"http2: ", "stream error: ", // net/http: GOAWAY, RST_STREAM
		"server closed idle connection",                            // net/http
		"forcibly closed", "actively refused", "connection reset ", // Windows
	} {
		if strings.Contains(text, broken) {
			return true
		}
	}
	return false
}
