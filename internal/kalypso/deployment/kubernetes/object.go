package kubernetes

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
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

func (o object) time(fields ...string) time.Time { return deployment.ParseTime(o.text(fields...)) }

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

// reference returns the reference in a field. The namespace defaults to the object's own.
func (o object) reference(fields ...string) versions.Reference {
	at := o.at(fields...)
	return versions.Reference{
		Kind: at.text("kind"), Namespace: cmp.Or(at.text("namespace"), o.GetNamespace()), Name: at.text("name"),
	}
}

func (o object) name() string { return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName() }

// parseDuration returns a duration as Kubernetes writes it, or 0.
func parseDuration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // 0 if it fails
	return d
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
