package kubernetes

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// object reads fields of a cluster's object. A field that is absent or has another type reads as the zero value.
type object struct{ unstructured.Unstructured }

func (o object) text(fields ...string) string {
	v, _, _ := unstructured.NestedString(o.Object, fields...)
	return v
}

func (o object) flag(fields ...string) bool {
	v, _, _ := unstructured.NestedBool(o.Object, fields...)
	return v
}

func (o object) number(fields ...string) int64 {
	v, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return v
}

func (o object) texts(fields ...string) []string {
	v, _, _ := unstructured.NestedStringSlice(o.Object, fields...)
	return v
}

func (o object) time(fields ...string) time.Time { return parseTime(o.text(fields...)) }

// objects returns the elements of a list of objects.
func (o object) objects(fields ...string) []object {
	found, _, _ := unstructured.NestedFieldNoCopy(o.Object, fields...)
	list, _ := found.([]any)
	var all []object
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			all = append(all, object{unstructured.Unstructured{Object: m}})
		}
	}
	return all
}

// at returns a nested object.
func (o object) at(fields ...string) object {
	found, _, _ := unstructured.NestedFieldNoCopy(o.Object, fields...)
	m, _ := found.(map[string]any)
	return object{unstructured.Unstructured{Object: m}}
}

func (o object) name() string { return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName() }

func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// condition returns the condition of a type from status.conditions, or the zero value.
func (o object) condition(kind string) object {
	for _, c := range o.objects("status", "conditions") {
		if c.text("type") == kind {
			return c
		}
	}
	return object{}
}

// readyHealth returns the health of a Flux object. The condition Ready counts once the controller has observed the
// latest spec.
func (o object) readyHealth() (health deployment.Health, since time.Time, message string) {
	if o.flag("spec", "suspend") {
		return deployment.Suspended, time.Time{}, ""
	}
	ready := o.condition("Ready")
	since, message = ready.time("lastTransitionTime"), ready.text("message")
	seen := ready.number("observedGeneration")
	switch {
	case o.GetDeletionTimestamp() != nil:
		return deployment.Progressing, since, "being deleted"
	case o.number("status", "observedGeneration") != o.GetGeneration(), seen != 0 && seen != o.GetGeneration():
		return deployment.Progressing, since, "its controller has not observed its latest change"
	}
	switch ready.text("status") {
	case "True":
		return deployment.Healthy, since, ""
	case "False":
		return deployment.Failed, since, message
	}
	return deployment.Progressing, since, message
}
