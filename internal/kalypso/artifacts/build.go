package artifacts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
)

// The media types that Flux writes and expects.
const (
	mediaTypeConfig  = "application/vnd.cncf.flux.config.v1+json"
	mediaTypeContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
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
	archive                   digest.Digest // of the content before it is compressed
}

// blob is a document in memory, with its descriptor.
type blob struct {
	ocispec.Descriptor
	bytes []byte
}

// build builds the artifact of a folder: a function of the files and their source. The files are sorted by name.
// Another version of Go may compress to other bytes.
func build(files []file, from source) (*built, error) {
	text, err := archive(files)
	if err != nil {
		return nil, err
	}
	compressed, err := compress(text)
	if err != nil {
		return nil, err
	}
	return (&built{content: describe(mediaTypeContent, compressed), archive: digest.FromBytes(text)}).with(from)
}

// with returns an artifact with the same files and another source.
func (b *built) with(from source) (*built, error) {
	made := &built{content: b.content, archive: b.archive}
	var err error
	made.config, err = marshal(mediaTypeConfig, ocispec.Image{
		Created: &from.created, RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{b.archive}},
	})
	if err != nil {
		return nil, err
	}
	made.manifest, err = marshal(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: made.config.Descriptor, Layers: []ocispec.Descriptor{b.content.Descriptor},
		Annotations: map[string]string{
			ocispec.AnnotationSource: from.repo, ocispec.AnnotationRevision: from.revision,
			ocispec.AnnotationCreated: from.created.Format(time.RFC3339),
			registry.FolderAnnotation: from.folder, registry.TreeAnnotation: from.tree,
		},
	})
	return made, err
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
