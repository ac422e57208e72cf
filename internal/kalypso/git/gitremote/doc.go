// Package gitremote accesses a Git repository over file://, HTTP(S) or SSH, with the credential for its URL, and
// returns errors that callers can tell apart.
//
// It implements three steps of the Git protocol: look up a reference, fetch objects into a store, push one commit to
// one branch. It has no work tree, no remote-tracking branches and no state.
package gitremote
