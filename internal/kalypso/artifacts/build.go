package artifacts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/annotation"
)

// The media types that Flux writes and expects.
const (
	MediaTypeConfig  = "application/vnd.cncf.flux.config.v1+json"
	MediaTypeContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// source is the origin of a folder.
type source struct {
	repo, revision, folder, tree string
	created                      time.Time
}

// file is a file of a folder.
type file struct {
	name       string
	content    []byte
	executable bool
}

// built is an artifact in memory.
type built struct {
	manifest, config, content blob
	archive                   []byte // the content before it is compressed
}

// blob is a document in memory, with its descriptor.
type blob struct {
	ocispec.Descriptor
	bytes []byte
}

// build builds the artifact of a folder: a function of the files and their source. The files are sorted by name.
//
// Another version of Go may compress to other bytes. So an artifact in a registry is compared by its archive.
func build(files []file, from source) (*built, error) {
	b := &built{}
	var err error
	if b.archive, err = archive(files); err != nil {
		return nil, err
	}
	compressed, err := compress(b.archive)
	if err != nil {
		return nil, err
	}
	b.content = describe(MediaTypeContent, compressed)
	if b.config, err = marshal(MediaTypeConfig, ocispec.Image{
		Created: &from.created, RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(b.archive)}},
	}); err != nil {
		return nil, err
	}
	b.manifest, err = marshal(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: b.config.Descriptor, Layers: []ocispec.Descriptor{b.content.Descriptor},
		Annotations: map[string]string{
			ocispec.AnnotationSource: from.repo, ocispec.AnnotationRevision: from.revision,
			ocispec.AnnotationCreated: from.created.Format(time.RFC3339),
			annotation.Folder:         from.folder, annotation.Tree: from.tree,
		},
	})
	return b, err
}

// marshal returns a value as a JSON document.
func marshal(mediaType string, v any) (blob, error) {
	content, err := json.Marshal(v)
	return describe(mediaType, content), err
}

func describe(mediaType string, content []byte) blob {
	return blob{ocispec.Descriptor{
		MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content)),
	}, content}
}

// compress returns the gzip of an archive.
func compress(archive []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(archive)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// compresses reports whether compressed bytes are the gzip of an archive, with any compression.
func compresses(compressed, archive []byte) bool {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return false
	}
	content, err := io.ReadAll(io.LimitReader(r, int64(len(archive))+1))
	return err == nil && bytes.Equal(content, archive)
}

// archive returns a tar archive of files. Its headers are those of flux push artifact: without times and owners, and
// with the folders.
func archive(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	folders := map[string]bool{}
	for _, f := range files {
		if err := addFolders(w, path.Dir(f.name), folders); err != nil {
			return nil, err
		}
		mode := int64(0o644)
		if f.executable {
			mode = 0o755
		}
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: mode, Size: int64(len(f.content))})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// addFolders adds a folder and those above it, unless they were added.
func addFolders(w *tar.Writer, folder string, added map[string]bool) error {
	if added[folder] {
		return nil
	}
	added[folder] = true
	if folder != "." {
		if err := addFolders(w, path.Dir(folder), added); err != nil {
			return err
		}
	}
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimSuffix(folder, "/"), Mode: 0o755})
}
