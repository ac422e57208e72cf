// Package tfvalue converts between Terraform's values and Go's values, and converts problems to diagnostics. It finds
// unknown values at every depth, and an error has the path of its attribute.
package tfvalue
