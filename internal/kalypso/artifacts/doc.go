// Package artifacts publishes what a GitOps branch contains of a rendering: one OCI artifact for the folder of each
// cluster type, as flux push artifact builds it.
package artifacts
