// Package remote reads and writes the branches and pull requests of renderings, as package delivery decides.
package remote
