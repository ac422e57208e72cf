package provider

import (
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// commitStatusModel holds the attributes of a commit status.
type commitStatusModel struct {
	Repo        types.String   `tfsdk:"repo"`
	Commit      types.String   `tfsdk:"commit"`
	Context     types.String   `tfsdk:"context"`
	State       types.String   `tfsdk:"state"`
	Description types.String   `tfsdk:"description"`
	TargetURL   types.String   `tfsdk:"target_url"`
	Deployment  types.Object   `tfsdk:"deployment"`
	RenewAfter  types.String   `tfsdk:"renew_after"`
	SetAt       types.String   `tfsdk:"set_at"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// toStatus and fromStatus convert the status. Null converts to the empty string; the context keeps its case.
func (m *commitStatusModel) toStatus() hosting.Status {
	s := hosting.Status{
		Context: m.Context.ValueString(), State: hosting.StatusState(m.State.ValueString()),
		Description: m.Description.ValueString(), TargetURL: m.TargetURL.ValueString(),
	}
	if m.hasDeployment() {
		s.State = hosting.StatusState(m.deploymentAttribute("verdict"))
		if summary := []rune(m.deploymentAttribute("summary")); len(summary) > hosting.MaxStatusDescription {
			s.Description = string(summary[:hosting.MaxStatusDescription-1]) + "…"
		} else {
			s.Description = string(summary)
		}
	}
	return s
}

func (m *commitStatusModel) fromStatus(s hosting.Status) {
	m.TargetURL, m.SetAt = nullable(s.TargetURL), nullableTime(s.SetAt)
	if !m.hasDeployment() {
		m.State, m.Description = types.StringValue(string(s.State)), nullable(s.Description)
		return
	}
	// A new description of the same verdict does not change the status: a deployment's counts change with every check.
	attributes := maps.Clone(m.Deployment.Attributes())
	attributes["verdict"] = types.StringValue(string(s.State))
	m.Deployment = types.ObjectValueMust(deploymentTypes, attributes)
}

// hasDeployment reports whether the status comes from a deployment.
func (m *commitStatusModel) hasDeployment() bool { return !m.Deployment.IsNull() }

// deploymentAttribute returns a known attribute of the deployment, or "".
func (m *commitStatusModel) deploymentAttribute(name string) string {
	v, _ := m.Deployment.Attributes()[name].(types.String)
	return v.ValueString()
}

// targetCommit returns the commit that gets the status, or "" if the deployment has none.
func (m *commitStatusModel) targetCommit() string {
	if m.hasDeployment() {
		return m.deploymentAttribute("promoted_commit")
	}
	return m.Commit.ValueString()
}

// identity returns the values that need a new status if they change. Of a deployment that includes the verdict, but not
// its summary, which changes with every check.
func (m *commitStatusModel) identity() [3]any {
	status := m.toStatus()
	if m.hasDeployment() {
		status.Description = ""
	}
	return [3]any{m.Repo.ValueString(), m.targetCommit(), status}
}

// isKnown reports whether all values of the status are known.
func (m *commitStatusModel) isKnown() bool {
	for _, v := range []attr.Value{m.Repo, m.Commit, m.Context, m.State, m.Description, m.TargetURL, m.Deployment} {
		if v.IsUnknown() {
			return false
		}
	}
	for _, v := range m.Deployment.Attributes() {
		if v.IsUnknown() {
			return false
		}
	}
	return true
}

// checkStatus reports arguments that conflict or are missing.
func checkStatus(m commitStatusModel, diags *diag.Diagnostics) {
	given := map[string]types.String{"commit": m.Commit, "state": m.State, "description": m.Description}
	for _, name := range []string{"commit", "state", "description"} {
		switch missing := given[name].IsNull(); {
		case m.hasDeployment() && !missing:
			diags.AddAttributeError(
				path.Root(name),
				"Two statuses",
				name+" is set and comes from deployment too. Remove one of the two.",
			)
		case !m.hasDeployment() && missing && name != "description":
			diags.AddAttributeError(
				path.Root(name),
				"Missing "+name,
				"Set commit and state, or deployment, which contains both.",
			)
		}
	}
	if commit := m.deploymentAttribute("promoted_commit"); commit != "" {
		if err := hosting.CheckCommit(commit); err != nil {
			diags.AddAttributeError(
				path.Root("deployment"),
				"Invalid promoted commit",
				fmt.Sprintf("%q: %s", commit, fleet.Sentence(err)),
			)
		}
	}
	if m.hasDeployment() && m.isKnown() && m.targetCommit() == "" {
		diags.AddAttributeWarning(
			path.Root("deployment"),
			"No status is set",
			"The deployment has no promoted commit: nothing was promoted there yet, or the branch contains no rendering. The "+
				"status is set once it has one.",
		)
	}
}
