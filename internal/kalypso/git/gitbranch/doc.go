// Package gitbranch reads and writes one branch of a GitOps repository as Git trees: it sets folders and files, and
// keeps everything else byte for byte. It knows nothing about fleets.
//
// It never checks anything out. It reads trees without file contents if the server supports filters, and sends new
// objects as a pack.
package gitbranch
