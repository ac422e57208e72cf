package delivery

// OnDrift is the reaction to changes of others in the rendering's folders.
type OnDrift string

// The reactions. [unknown.Text] says that the reaction is not known yet.
const (
	DriftFail      OnDrift = "fail"      // the plan fails
	DriftOverwrite OnDrift = "overwrite" // the apply overwrites the changes
)

// DriftError says that others changed the folders of a rendering, and that on_drift does not allow to overwrite that.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return "others changed the rendered folders at " + e.State.Destination.String()
}
