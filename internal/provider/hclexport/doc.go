// Package hclexport writes values as Terraform configuration.
package hclexport
