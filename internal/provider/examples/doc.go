// Package examples runs the examples and follows the guides, as users do.
package examples
