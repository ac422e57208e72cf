package provider

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// panickingLists has a list that panics after its first result.
type panickingLists struct{ tfprotov6.ListResourceServer }

func (panickingLists) ListResource(
	context.Context, *tfprotov6.ListResourceRequest,
) (*tfprotov6.ListResourceServerStream, error) {
	return &tfprotov6.ListResourceServerStream{Results: func(push func(tfprotov6.ListResourceResult) bool) {
		if push(tfprotov6.ListResourceResult{DisplayName: "first"}) {
			panic("in the middle of the list")
		}
	}}, nil
}

// A panic while Terraform reads a list is an error at the end of its results. No result follows if Terraform has
// stopped the list.
func TestListPanics(t *testing.T) {
	t.Parallel()
	served := server{lists: panickingLists{}}
	for _, wanted := range []int{1, 5} {
		stream, err := served.ListResource(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var results []tfprotov6.ListResourceResult
		for result := range stream.Results {
			results = append(results, result)
			if len(results) == wanted {
				break
			}
		}
		if results[0].DisplayName != "first" || len(results) != min(wanted, 2) {
			t.Fatalf("%d wanted: %+v", wanted, results)
		}
		if wanted > 1 && (len(results[1].Diagnostics) != 1 ||
			results[1].Diagnostics[0].Summary != "Internal error of the provider") {
			t.Errorf("the panic is %+v", *results[1].Diagnostics[0])
		}
	}
}
