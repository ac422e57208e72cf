package kubernetes

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// ApplicationStatus returns the health of an Application, and the time since which it has this health.
func ApplicationStatus(application map[string]any, now time.Time) (deployment.Health, time.Time) {
	s := object{unstructured.Unstructured{Object: application}}.applicationStatus(now)
	return s.health, s.since
}
