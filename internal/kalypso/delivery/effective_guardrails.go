package delivery

import "strconv"

// Effective returns the values that apply, by the names of the arguments: those that are set, and the defaults of the
// others.
func (g Guardrails) Effective() map[string]string {
	return map[string]string{
		"max_removed":       g.MaxRemoved.String(),
		"max_kept":          string(g.maxKept()),
		"allow_empty":       strconv.FormatBool(g.AllowEmpty),
		"require_known":     strconv.FormatBool(g.RequireKnown),
		"emptied":           string(g.Emptied),
		"unscheduled":       string(g.Unscheduled),
		"unsatisfied":       string(g.Unsatisfied),
		"moved":             string(g.Moved),
		"duplicate_objects": string(g.DuplicateObjects),
		"secrets":           string(g.Secrets),
		"invalid_objects":   string(g.InvalidObjects),
	}
}
