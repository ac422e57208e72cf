package schemas

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
)

// Enumeration lists the values of a string argument. The first one is the default.
type Enumeration []string

// Strategies lists how a tree or a file reaches its branch.
var Strategies = Enumeration{string(destination.Push), string(destination.PullRequest), string(destination.None)}

// DriftReactions lists the reactions to a branch that was changed outside Terraform.
var DriftReactions = Enumeration{string(drift.Fail), string(drift.Overwrite)}

// Or returns the value, or the default if it is empty.
func (e Enumeration) Or(value string) string { return cmp.Or(value, e[0]) }

// Attribute returns an optional argument that takes these values. The first is the default.
func (e Enumeration) Attribute(description string) schema.StringAttribute {
	return OptionalString(fmt.Sprintf("%s One of %s; the default is `%s`.", description, Quoted(e), e[0]),
		stringvalidator.OneOf(e...))
}

// ListOfStrings is the type of a list of strings.
var ListOfStrings = types.ListType{ElemType: types.StringType}

// Quoted lists values as Markdown.
func Quoted(all []string) string { return "`" + strings.Join(all, "`, `") + "`" }

// Alternatives lists two or more values of an argument, as Markdown.
func Alternatives(all []string) string {
	last := len(all) - 1
	return Quoted(all[:last]) + " or " + Quoted(all[last:])
}
