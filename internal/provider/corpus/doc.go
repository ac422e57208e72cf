// Package corpus contains recorded random stories of the provider, and the test that replays and compares them. See
// README.md.
package corpus
