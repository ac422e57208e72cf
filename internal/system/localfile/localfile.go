// Package localfile reads local files that people name. It reads only regular files, bounded in size, since a device
// or a pipe may be endless, or never send anything.
package localfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Errors of [Read], in addition to the errors of the file system.
var (
	ErrNotRegular = errors.New("it is not a regular file")
	ErrTooLarge   = errors.New("it is too large")
)

// MaxSmall is a bound for files that a person writes, or that contain a token, a key or certificates.
const MaxSmall = 4 << 20

// Read reads a regular file of at most limit bytes. It follows links. Its errors don't contain the path, which may be a
// secret that was put in the wrong place.
func Read(path string, limit int64) ([]byte, error) {
	data, err := read(path, limit)
	return data, withoutPath(err)
}

func read(path string, limit int64) ([]byte, error) {
	// Opening a pipe without this flag waits for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the caller says why people may name it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // files in /proc have size 0
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, limit)
	}
	return data, err
}

func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
