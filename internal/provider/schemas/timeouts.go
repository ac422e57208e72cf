package schemas

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Timeouts returns the argument timeouts, of a resource or a data source. Each timeout is greater than 0.
func Timeouts(of timeouts.Opts) schema.Attribute {
	a, _ := timeouts.Attributes(context.Background(), of).(schema.SingleNestedAttribute)
	for name, timeout := range a.Attributes {
		text, _ := timeout.(schema.StringAttribute)
		text.Validators = []validator.String{Valid("duration", CheckDuration)}
		a.Attributes[name] = text
	}
	return a
}

// TimeoutText describes timeouts.read: what it limits, and more.
func TimeoutText(limits string, more ...string) string {
	const form = ", as a [duration](https://pkg.go.dev/time#ParseDuration) such as `30s` or `10m`. The default is `5m`."
	return strings.Join(append([]string{limits + form}, more...), " ")
}

// SourceTimeout is the default of timeouts.read of data sources.
const SourceTimeout = 5 * time.Minute
