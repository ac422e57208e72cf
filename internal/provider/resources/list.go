package resources

import (
	"context"
	"fmt"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ list.ListResourceWithConfigure      = (*listed)(nil)
	_ list.ListResourceWithValidateConfig = (*listed)(nil)
)

// List defines a list of resources.
type List struct {
	Name        string                        // of the resource
	Description string                        // Markdown
	Arguments   map[string]resource.Attribute // as a resource's, see [DataSource]
	Check       func(Reading)                 // reports problems of the known arguments; nil: there are none
	// Find adds what it finds to the results. If the argument repo is set, the provider's configuration is known.
	Find func(context.Context, Reading, *ListResults)
}

type listed struct {
	named
	of List
}

// NewList returns a list.
func NewList(of List) list.ListResource { return &listed{named{name: of.Name}, of} }

// ListResourceConfigSchema implements list.ListResource.
func (l *listed) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{MarkdownDescription: l.of.Description, Attributes: map[string]schema.Attribute{}}
	for name, a := range l.of.Arguments {
		resp.Schema.Attributes[name] = a
	}
}

// ValidateListResourceConfig reports problems of the known arguments.
func (l *listed) ValidateListResourceConfig(
	ctx context.Context, req list.ValidateConfigRequest, resp *list.ValidateConfigResponse,
) {
	r := newReading(ctx, nil, req.Config, &resp.Diagnostics)
	if l.of.Check != nil {
		l.of.Check(r)
	}
	r.Invalid()
}

// List implements list.ListResource.
func (l *listed) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = listStream(req, func(results *ListResults) {
		var diags diag.Diagnostics
		r := newReading(ctx, l.Data, req.Config, &diags)
		if r.String("repo") != "" {
			r.Data.CheckKnown("A list reads repos, and the provider's credentials are known after apply.", &diags)
		}
		ctx, cancel := context.WithTimeout(ctx, r.Limit)
		defer cancel()
		l.of.Find(ctx, r, results)
		results.Fail(diags)
	})
}

// ListResults passes the results of a list to Terraform, one at a time.
//
// Terraform drops all results of a list if it gets an error. So a problem with one result is a warning, and an error
// means that the list found nothing.
type ListResults struct {
	request list.ListRequest
	push    func(list.ListResult) bool
	count   int64
	// last is the result that reaches the limit. It is kept back until it's known whether there are more results:
	// Terraform reads nothing after it, so a warning about more results must come with it.
	last  *list.ListResult
	ended bool // Terraform wants no more
}

// listStream returns the results that find adds.
func listStream(request list.ListRequest, find func(*ListResults)) iter.Seq[list.ListResult] {
	return func(push func(list.ListResult) bool) {
		if request.Limit <= 0 {
			return
		}
		l := &ListResults{request: request, push: push}
		find(l)
		if l.last != nil && !l.ended {
			l.push(*l.last)
		}
	}
}

// Add adds a result, and reports whether Terraform wants more. identity contains the identity's attributes; "" is null.
// resource sets the whole resource, if the request asks for it. If it fails, the result is left out, with warnings.
func (l *ListResults) Add(
	ctx context.Context, name string, identity map[string]string, resource func(*tfsdk.Resource, *diag.Diagnostics),
) bool {
	if l.ended {
		return false
	}
	if l.last != nil {
		l.last.Diagnostics.AddWarning("The list is truncated at its limit", fmt.Sprintf(
			"There are more than %d results. Raise limit to get them: it is an argument of the list block, beside config.",
			l.request.Limit))
		l.push(*l.last)
		l.ended = true
		return false
	}
	result := l.request.NewListResult(ctx)
	result.DisplayName = name
	for attribute, value := range identity {
		result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root(attribute), tfvalue.Nullable(value))...)
	}
	if l.request.IncludeResource {
		resource(result.Resource, &result.Diagnostics)
	}
	if result.Diagnostics.HasError() {
		return l.Warn(result.Diagnostics)
	}
	l.count++
	if l.count == l.request.Limit {
		l.last = &result
		return true
	}
	return l.send(result)
}

// Warn passes diagnostics as warnings, and reports whether Terraform wants more.
func (l *ListResults) Warn(diags diag.Diagnostics) bool {
	var warnings diag.Diagnostics
	for _, d := range diags {
		warnings.Append(tfvalue.Restate(d, diag.SeverityWarning, d.Summary(), d.Detail()))
	}
	return l.Fail(warnings)
}

// Fail passes diagnostics. An error ends the list.
func (l *ListResults) Fail(diags diag.Diagnostics) bool {
	if l.ended || len(diags) == 0 {
		return !l.ended
	}
	return l.send(list.ListResult{Diagnostics: diags})
}

func (l *ListResults) send(result list.ListResult) bool {
	l.ended = !l.push(result)
	return !l.ended
}
