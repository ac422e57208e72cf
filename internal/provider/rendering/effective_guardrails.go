package rendering

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// setEffectiveGuardrails sets the guardrails with their defaults. Terraform drops a guardrail whose name does not exist
// before the provider sees it, so the first plan shows which ones apply.
func (m *environmentRenderingModel) setEffectiveGuardrails() {
	if m.Guardrails.IsUnknown() {
		m.EffectiveGuardrails = types.MapUnknown(types.StringType)
		return
	}
	all := map[string]attr.Value{}
	for name, value := range m.arguments().Guardrails.Effective() {
		all[name] = types.StringValue(value)
		if given := m.Guardrails.Attributes()[name]; given != nil && !tfvalue.WhollyKnown(given) {
			all[name] = types.StringUnknown()
		}
	}
	m.EffectiveGuardrails = types.MapValueMust(types.StringType, all)
}
