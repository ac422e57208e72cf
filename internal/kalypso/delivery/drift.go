package delivery

// DriftError means that the folders of a rendering have foreign changes, and that on_drift does not allow to overwrite
// them.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return "others changed the rendered folders at " + e.State.Destination.String()
}
