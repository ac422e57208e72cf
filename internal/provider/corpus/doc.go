// Package corpus contains random stories of the provider with what it did in them, and the test that compares. See
// README.md.
package corpus
