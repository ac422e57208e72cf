// Package gitops reads and writes one branch of a GitOps repository, in terms
// of Git trees alone: folders that become what they should be, files beside
// them, and everything else untouched to the byte. It knows nothing of fleets.
//
// Nothing is checked out: trees are read without the contents of their files
// where the server can leave those out, and what is written goes into a pack
// of new objects and over the wire.
package gitops
