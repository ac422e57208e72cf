package schemas

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Enumeration lists the values of a string argument. The first one is the default.
type Enumeration []string

// Strategies lists how a tree or a file reaches its branch.
var Strategies = Enumeration{string(strategy.Push), string(strategy.PullRequest), string(strategy.None)}

// DriftReactions lists the reactions to a branch that was changed outside Terraform.
var DriftReactions = Enumeration{string(drift.Fail), string(drift.Overwrite)}

// Or returns the value, or the default if it is empty.
func (e Enumeration) Or(value string) string {
	if value == "" {
		return e[0]
	}
	return value
}

// Attribute returns an optional argument that takes these values. The first is the default.
func (e Enumeration) Attribute(description string) schema.StringAttribute {
	quoted := lists.Map(e, func(v string) string { return "`" + v + "`" })
	return schema.StringAttribute{
		Optional: true,
		MarkdownDescription: fmt.Sprintf("%s One of %s; the default is `%s`.",
			description, strings.Join(quoted, ", "), e[0]),
		Validators: []validator.String{stringvalidator.OneOf(e...)},
	}
}

// ListOfStrings is the type of a list of strings.
var ListOfStrings = types.ListType{ElemType: types.StringType}

// Alternatives lists the values of an argument, as Markdown.
func Alternatives(all []string) string {
	quoted := lists.Map(all, func(a string) string { return "`" + a + "`" })
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
