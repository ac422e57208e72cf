package rendering

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
)

// A plan is reused only by an apply of the same values, and only once.
func TestLastPlan(t *testing.T) {
	values := func(environment types.String, manifest string) environmentRenderingModel {
		return environmentRenderingModel{
			Environment: environment,
			Manifests:   types.MapValueMust(types.StringType, map[string]attr.Value{"a.yaml": types.StringValue(manifest)}),
			Unscheduled: types.ListNull(types.StringType),
		}
	}
	dev := types.StringValue("dev")
	var l configuration.LastPlan
	if l.Take(values(dev, "1")) != nil {
		t.Error("there is a plan before the first")
	}
	one, two := &delivery.Decision{}, &delivery.Decision{}
	l.Keep(values(dev, "1"), one)
	more := values(dev, "1")
	more.Preview = types.StringValue("none")
	for name, other := range map[string]environmentRenderingModel{
		"another text": values(dev, "2"), "an unknown environment": values(types.StringUnknown(), "1"),
		"no environment":  values(types.StringNull(), "1"),
		"another preview": more, "nothing": {},
	} {
		if l.Take(other) != nil {
			t.Errorf("the plan serves %s", name)
		}
	}
	if l.Take(values(dev, "1")) != one {
		t.Error("the plan does not serve the same values")
	}
	if l.Take(values(dev, "1")) != nil {
		t.Error("the plan serves twice")
	}
	l.Keep(values(dev, "1"), one)
	l.Keep(values(dev, "2"), two)
	if l.Take(values(dev, "1")) != nil || l.Take(values(dev, "2")) != two {
		t.Error("it is not the last plan that is kept")
	}
}
