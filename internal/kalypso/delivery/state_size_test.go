package delivery_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
)

// zeros is a reader of zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestDecodeLargeState: a private state of 1.3 MB that would decompress to 1 GiB is an error. It is not decompressed to
// its end.
func TestDecodeLargeState(t *testing.T) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, io.LimitReader(zeros{}, 1<<30)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	peak := memory.Peak(func() { _, err = delivery.DecodeState(packed.Bytes()) })
	if err == nil || !strings.Contains(err.Error(), "larger than 128 MiB") || peak > 1<<30 {
		t.Errorf("%d MiB, %v", peak>>20, err)
	}
}
