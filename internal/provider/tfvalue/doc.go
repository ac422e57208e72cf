// Package tfvalue converts between the values of Terraform and those of Go, and problems to diagnostics. An unknown
// value is known as such at every depth, and an error has the path of its attribute.
package tfvalue
