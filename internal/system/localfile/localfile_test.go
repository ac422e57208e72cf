//go:build unix

package localfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
)

func TestRead(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(
		os.WriteFile(in("file"), []byte("12345678"), 0o600), os.Symlink("file", in("link")), os.Mkdir(in("folder"), 0o700),
		syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("/dev/zero", in("zero")), os.Symlink("loop", in("loop")),
	); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, want := range map[string]error{
		"file": nil, "link": nil, "folder": localfile.ErrNotRegular, "pipe": localfile.ErrNotRegular,
		"zero": localfile.ErrNotRegular, "none": fs.ErrNotExist, "loop": syscall.ELOOP, "socket": syscall.ENXIO,
	} {
		started := time.Now()
		data, err := localfile.Read(in(name), 8)
		if !errors.Is(err, want) || want == nil && (err != nil || string(data) != "12345678") {
			t.Errorf("%s: got %q, %v, want %v", name, data, err, want)
		}
		if time.Since(started) > 10*time.Second {
			t.Errorf("%s: the read took %v", name, time.Since(started))
		}
	}
	if _, err := localfile.Read(in("file"), 7); !errors.Is(err, localfile.ErrTooLarge) {
		t.Errorf("a file larger than the bound: %v", err)
	}
}
