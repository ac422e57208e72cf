// Package gitremote reaches a Git repository: over file://, HTTP(S) and SSH,
// with the credential that serves its URL, and with errors that can be told
// apart.
//
// It speaks the Git protocol in three steps: look up a reference, fetch
// objects into a store, push one commit to one branch. It has no work tree, no
// remote-tracking branches and no state of its own.
package gitremote
