package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// ErrTagsStay means that a registry can't remove a tag alone.
var ErrTagsStay = errors.New("the registry does not remove tags")

// DeleteTag removes a tag, but not its manifest. The library removes only manifests.
func DeleteTag(ctx context.Context, r *remote.Repository, tag string) error {
	scheme := "https"
	if r.PlainHTTP {
		scheme = "http"
	}
	url := fmt.Sprintf("%s://%s/v2/%s/manifests/%s", scheme, r.Reference.Host(), r.Reference.Repository, tag)
	req, err := http.NewRequestWithContext(auth.AppendRepositoryScope(ctx, r.Reference, auth.ActionDelete),
		http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusAccepted, http.StatusOK, http.StatusNoContent, http.StatusNotFound:
		return nil
	case http.StatusBadRequest, http.StatusMethodNotAllowed: // as the specification asks for
		return ErrTagsStay
	}
	return &errcode.ErrorResponse{Method: req.Method, URL: req.URL, StatusCode: resp.StatusCode}
}
