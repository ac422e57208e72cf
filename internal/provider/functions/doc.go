// Package functions has the functions of the provider.
package functions
