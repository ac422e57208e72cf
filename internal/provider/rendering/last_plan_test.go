package rendering

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// A plan is reused only by an apply of the same values, and only once.
func TestLastPlan(t *testing.T) {
	values := func(environment types.String, manifest string) resources.Model {
		return resources.Model{
			"environment": environment,
			"manifests":   types.MapValueMust(types.StringType, map[string]attr.Value{"a.yaml": types.StringValue(manifest)}),
			"unscheduled": types.ListNull(types.StringType),
		}
	}
	dev := types.StringValue("dev")
	var l configuration.LastPlans
	at := destination.Destination{Repo: "file:///repo", Branch: "dev", Path: "a"}
	take := func(plan resources.Model) delivery.Plan {
		decision, _ := l.Take("dev", at, plan)
		return decision
	}
	if take(values(dev, "1")) != nil {
		t.Error("there is a plan before the first")
	}
	one, two := &delivery.Keep{}, &delivery.Write{}
	l.Keep("dev", at, values(dev, "1"), one, nil)
	more := values(dev, "1")
	more["preview"] = types.StringValue("none")
	for name, other := range map[string]resources.Model{
		"another text": values(dev, "2"), "an unknown environment": values(types.StringUnknown(), "1"),
		"no environment":  values(types.StringNull(), "1"),
		"another preview": more, "nothing": {},
	} {
		if take(other) != nil {
			t.Errorf("the plan is reused for %s", name)
		}
	}
	other := at
	other.Path = "b"
	l.Keep("dev", other, values(dev, "1"), two, nil)
	if take(values(dev, "1")) != one {
		t.Error("the plan is not reused for the same values")
	}
	if take(values(dev, "1")) != nil {
		t.Error("the plan is reused twice")
	}
	if decision, _ := l.Take("dev", other, values(dev, "1")); decision != two {
		t.Error("the plan of another rendering is lost")
	}
	l.Keep("dev", at, values(dev, "1"), one, nil)
	l.Keep("dev", at, values(dev, "2"), two, nil)
	if take(values(dev, "1")) != nil || take(values(dev, "2")) != two {
		t.Error("an earlier plan is kept in place of the last one")
	}
}
