// Package conventions tests the whole repo: the sizes of packages and types, the tables of ARCHITECTURE.md, and words.
package conventions
