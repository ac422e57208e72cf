// Package sign reads cosign's keys, and makes and verifies the signatures and provenance that cosign attaches to OCI
// artifacts. It contacts no registry.
package sign
