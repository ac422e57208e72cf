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
	take := func(plan environmentRenderingModel) *delivery.Decision {
		decision, _ := l.Take(plan)
		return decision
	}
	if take(values(dev, "1")) != nil {
		t.Error("there is a plan before the first")
	}
	one, two := &delivery.Decision{}, &delivery.Decision{}
	l.Keep(values(dev, "1"), one, nil)
	more := values(dev, "1")
	more.Preview = types.StringValue("none")
	for name, other := range map[string]environmentRenderingModel{
		"another text": values(dev, "2"), "an unknown environment": values(types.StringUnknown(), "1"),
		"no environment":  values(types.StringNull(), "1"),
		"another preview": more, "nothing": {},
	} {
		if take(other) != nil {
			t.Errorf("the plan serves %s", name)
		}
	}
	if take(values(dev, "1")) != one {
		t.Error("the plan does not serve the same values")
	}
	if take(values(dev, "1")) != nil {
		t.Error("the plan serves twice")
	}
	l.Keep(values(dev, "1"), one, nil)
	l.Keep(values(dev, "2"), two, nil)
	if take(values(dev, "1")) != nil || take(values(dev, "2")) != two {
		t.Error("it is not the last plan that is kept")
	}
}
