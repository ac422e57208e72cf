package fleet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Limits bound what a fleet may ask for, so that one team can't stop the others. A zero stands for the default.
type Limits struct {
	Assignments        int   // of the environment
	TargetsPerWorkload int   // deployment targets of one Workload in the environment
	FileSize           int64 // bytes that one file, and any value that goes into it, may take
	Manifests          int64 // bytes of Kalypso YAML, all texts together
}

// DefaultLimits are far above any real fleet.
var DefaultLimits = Limits{Assignments: 250_000, TargetsPerWorkload: 2000, FileSize: 1 << 20, Manifests: 256 << 20}

// WithDefaults is l with the default for each limit that is not set.
func (l Limits) WithDefaults() Limits {
	if l.Assignments == 0 {
		l.Assignments = DefaultLimits.Assignments
	}
	if l.TargetsPerWorkload == 0 {
		l.TargetsPerWorkload = DefaultLimits.TargetsPerWorkload
	}
	if l.FileSize == 0 {
		l.FileSize = DefaultLimits.FileSize
	}
	if l.Manifests == 0 {
		l.Manifests = DefaultLimits.Manifests
	}
	return l
}

// Bytes is a number of bytes for an error: a Kubernetes quantity where that is exact, such as 1Mi.
func Bytes(n int64) string {
	if n < 1024 || n%1024 != 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}
