package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// retries is how often a request is sent again that the server could not answer. Nothing is sent again once a pack
// was.
const retries = 3

// retry runs an attempt again while the server is busy or drops the connection, and while the wait for that ends
// before ctx does.
func (r *Remote) retry(ctx context.Context, attempt func() error) error {
	for done := 1; ; done++ {
		err := attempt()
		if err == nil || r.at.Scheme == schemeFile || ctx.Err() != nil || !transient(err) {
			return err
		}
		wait := backoff(done)
		var answer *statusError
		if errors.As(err, &answer) && answer.wait >= 0 {
			wait = answer.wait
		}
		if done > retries || !endsBefore(ctx, wait) {
			return &retriedError{cause: err, attempts: done, wait: wait}
		}
		if err := r.client.wait(ctx, wait); err != nil {
			return err
		}
	}
}

// endsBefore tells whether a wait that starts now ends before ctx does.
func endsBefore(ctx context.Context, wait time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	end, _ := waiting.Deadline()
	deadline, bounded := ctx.Deadline()
	return !bounded || end.Before(deadline)
}

// backoff is the wait after so many attempts: half a second, one, two, give or take half of it, so that the clients
// of a server that starts again do not come at once.
func backoff(attempts int) time.Duration {
	most := 750 * time.Millisecond << (attempts - 1)
	return most/3 + rand.N(most*2/3)
}

// retriedError is the error of the last attempt.
type retriedError struct {
	cause    error
	attempts int
	wait     time.Duration // that the next attempt would have needed
}

func (e *retriedError) Error() string { return e.cause.Error() }
func (e *retriedError) Unwrap() error { return e.cause }

// note says how often it was tried, and what there was no time for.
func (e *retriedError) note() string {
	if e.attempts > retries {
		return fmt.Sprintf(" (%d attempts)", e.attempts)
	}
	return fmt.Sprintf(" (attempt %d; the next one is due in %s, which is after the timeout)",
		e.attempts, e.wait.Round(time.Second))
}

// transient tells whether another attempt may do: the server says so, or the connection broke.
func transient(err error) bool {
	var answer *statusError
	if errors.As(err, &answer) {
		return answer.busy
	}
	var said *remoteWords
	if errors.As(err, &said) || !errors.Is(kindOf(err), ErrUnreachable) {
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

// retryAfter is how long a server asks to wait, in seconds or as a date by its own clock; negative: it does not say.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(value)
	now, dateErr := http.ParseTime(h.Get("Date"))
	if err != nil || dateErr != nil {
		return -1
	}
	return max(0, at.Sub(now))
}
