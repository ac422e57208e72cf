package delivery

// DriftError says that others changed the folders of a rendering, and that on_drift does not allow to overwrite that.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return "others changed the rendered folders at " + e.State.Destination.String()
}
