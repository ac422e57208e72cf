package schemas

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
)

// validString validates a string with a function of the domain.
type validString struct {
	what  string
	check func(string) error
}

// Valid returns a validator for what check accepts. what names it in errors.
func Valid(what string, check func(string) error) validString { return validString{what, check} }

func (v validString) Description(context.Context) string { return "value must be a valid " + v.what }

func (v validString) MarkdownDescription(context.Context) string {
	return "value must be a valid " + v.what
}

func (v validString) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid "+v.what, problem.Sentence(err))
	}
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
