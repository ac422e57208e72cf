package artifacts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// TestBuild compares an artifact with the recorded one. If a new version of Go compresses to other bytes, the digests
// of the content and of the manifest change here: record them. Published artifacts keep their digest, since the state
// names it. The digest of the uncompressed archive must never change.
func TestBuild(t *testing.T) {
	t.Parallel()
	b, err := build([]file{
		{"app/base/deploy.yaml", []byte("kind: Deployment\n"), false},
		{"app/run.sh", []byte("#!/bin/sh\n"), true},
		{"platform-config.yaml", []byte("a: 1\n"), false},
	}, source{
		repo: "https://github.com/acme/gitops", revision: "dev@sha1:" + digest.FromString("x").Encoded()[:40],
		folder: "fleet/large", tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	var config ocispec.Image
	if err := json.Unmarshal(b.config.bytes, &config); err != nil {
		t.Fatal(err)
	}
	for what, digests := range map[string][2]string{
		"archive": {config.RootFS.DiffIDs[0].String(),
			"sha256:b18e7e92b901ad0ce04d25af0adb6ae63dc34129b7960e9e7daa5edcb268cbb7"},
		"content":  {b.content.Digest.String(), "sha256:245e08001da3f6430b892b7792dfbd8998b9970ce5c66e2e0854b595efb2af46"},
		"manifest": {b.manifest.Digest.String(), "sha256:769cd4e0db25a29c86718662eecef2393022e7eceb1ffbc1c853263de2e308bd"},
	} {
		if digests[0] != digests[1] {
			t.Errorf("the digest of the %s is %s, recorded %s", what, digests[0], digests[1])
		}
	}
	if diff := cmp.Diff([]string{
		". 755", "app 755", "app/base 755", "app/base/deploy.yaml 644 kind: Deployment\n", "app/run.sh 755 #!/bin/sh\n",
		"platform-config.yaml 644 a: 1\n",
	}, listing(t, b.content.bytes)); diff != "" {
		t.Errorf("the archive (-want +got):\n%s", diff)
	}
	var manifest map[string]any
	if err := json.Unmarshal(b.manifest.bytes, &manifest); err != nil {
		t.Fatal(err)
	}
	descriptor := func(mediaType string, content []byte) map[string]any {
		return map[string]any{
			"mediaType": mediaType, "digest": digest.FromBytes(content).String(), "size": float64(len(content)),
		}
	}
	if diff := cmp.Diff(map[string]any{
		"schemaVersion": 2.0, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor("application/vnd.cncf.flux.config.v1+json", b.config.bytes),
		"layers": []any{descriptor("application/vnd.cncf.flux.content.v1.tar+gzip", b.content.bytes)},
		"annotations": map[string]any{
			"org.opencontainers.image.source":    "https://github.com/acme/gitops",
			"org.opencontainers.image.revision":  "dev@sha1:2d711642b726b04401627ca9fbac32f5c8530fb1",
			"org.opencontainers.image.created":   "2026-03-01T12:00:00Z",
			"io.github.terraform-kalypso.folder": "fleet/large",
			"io.github.terraform-kalypso.tree":   "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		},
	}, manifest); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
}

// listing lists the entries of a compressed archive.
func listing(t *testing.T, compressed []byte) (lines []string) {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(unpacked)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(time.Unix(0, 0)) || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" {
			t.Errorf("%s has %+v", h.Name, h)
		}
		line := fmt.Sprintf("%s %o", h.Name, h.Mode)
		if h.Typeflag == tar.TypeReg {
			line += " " + string(content)
		}
		lines = append(lines, line)
	}
}
