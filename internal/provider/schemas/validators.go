package schemas

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// validString validates a string with a function of the domain.
type validString struct {
	what  string
	check func(string) error
}

// Valid returns a validator that accepts the strings that check accepts. what is the word for such a string in errors.
func Valid(what string, check func(string) error) validString { return validString{what, check} }

func (v validString) Description(context.Context) string { return "value must be a valid " + v.what }

func (v validString) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v validString) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid "+v.what, problem.Sentence(err))
	}
}

// ValidRepoURL returns a validator that accepts the URL of a Git repo, in any of its forms.
func ValidRepoURL() validator.String { return Valid("repo URL", CheckRepoURL) }

// CheckRepoURL returns an error if a text is not the URL of a Git repo.
func CheckRepoURL(url string) error {
	_, err := giturl.Parse(url)
	return err
}

// CheckDuration returns an error if text is not a duration greater than 0.
func CheckDuration(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a duration such as \"90s\", \"15m\" or \"1h\"", text)
	case d <= 0:
		return fmt.Errorf("%q is not greater than 0", text)
	}
	return nil
}

// SetsSomething returns a validator that warns of an object without any attribute. Terraform drops attributes that do
// not exist before the provider sees them.
func SetsSomething() validator.Object { return setsSomething{} }

type setsSomething struct{}

func (setsSomething) Description(context.Context) string { return "object should set an attribute" }

func (v setsSomething) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (setsSomething) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	given := req.ConfigValue.Attributes()
	for _, value := range given {
		if !value.IsNull() {
			return
		}
	}
	// The title names the object, because Terraform merges warnings with the same title and shows only one.
	resp.Diagnostics.AddAttributeWarning(req.Path, req.Path.String()+" sets nothing", fmt.Sprintf(
		"No attribute of %s is set, so all defaults apply. Terraform silently drops an attribute whose name does not "+
			"exist: check the spelling, or remove the object. Its attributes are %s.",
		req.Path, strings.Join(slices.Sorted(maps.Keys(given)), ", ")))
}

// Needs reports whether an object needs one of its attributes, as their descriptions say.
func Needs(attributes map[string]schema.Attribute) bool {
	for _, a := range attributes {
		if a.IsRequired() || strings.HasSuffix(a.GetMarkdownDescription(), "Required.") {
			return true
		}
	}
	return false
}
