package registry

import (
	"context"
	"errors"
	"net/url"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// maxManifest bounds the manifests that are read, in bytes: the size that registries must accept.
const maxManifest = 4 << 20

// FetchManifest reads a manifest that other people may have written, as [Fetch] does.
func FetchManifest(ctx context.Context, from content.Fetcher, at ocispec.Descriptor) (text []byte, ok bool, err error) {
	return Fetch(ctx, from, at, maxManifest)
}

// Fetch reads a document that other people have described. ok is false if the registry does not contain such a
// document, or if it is larger than limit bytes: its description may be wrong.
func Fetch(
	ctx context.Context, from content.Fetcher, at ocispec.Descriptor, limit int64,
) (text []byte, ok bool, err error) {
	if at.Digest.Validate() != nil || at.Size < 0 || at.Size > limit { // the digest is a part of the URL
		return nil, false, nil
	}
	body, err := from.Fetch(ctx, at)
	if err != nil {
		var notSent *url.Error
		var refused *errcode.ErrorResponse
		if errors.As(err, &notSent) || errors.As(err, &refused) || ctx.Err() != nil {
			return nil, false, err
		}
		return nil, false, nil // not found, or of another size or media type
	}
	defer body.Close()
	text, err = content.ReadAll(body, at)
	if slices.ContainsFunc([]error{content.ErrMismatchedDigest, content.ErrTrailingData}, func(wrong error) bool {
		return errors.Is(err, wrong)
	}) {
		return nil, false, nil
	}
	return text, err == nil, err
}
