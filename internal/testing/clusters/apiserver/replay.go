package apiserver

import (
	"maps"
	"net/http"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Transport returns a transport to the server that trusts its certificate and sends no credential of its own.
func (s *Server) Transport(t testing.TB) http.RoundTripper {
	t.Helper()
	config, err := s.config("")
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

// Replay sets an object to its state in a recorded watch event. event is the type of the event. All events of an object
// must be replayed in order, so that its generation is the same as in the recording.
func (s *Server) Replay(t testing.TB, event string, recorded *unstructured.Unstructured) {
	t.Helper()
	if s.replayed == nil {
		s.replayed = map[string]*unstructured.Unstructured{}
	}
	key := recorded.GetKind() + " " + recorded.GetNamespace() + "/" + recorded.GetName()
	objects, now := s.Objects(recorded), s.replayed[key]
	must := func(made *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s %s: %v", event, key, err)
		}
		now = made
	}
	want := recorded.DeepCopy()
	if event == string(watch.Deleted) {
		if now.GetDeletionTimestamp() == nil {
			if err := objects.Delete(t.Context(), now.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		now.SetFinalizers(nil)
		_, _ = objects.Update(t.Context(), now, metav1.UpdateOptions{}) // fails if no finalizer kept the object
		delete(s.replayed, key)
		return
	}
	if now == nil {
		want.SetGeneration(0)
		must(objects.Create(t.Context(), want.DeepCopy(), metav1.CreateOptions{}))
	}
	if want.GetDeletionTimestamp() != nil && now.GetDeletionTimestamp() == nil {
		if err := objects.Delete(t.Context(), now.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		must(objects.Get(t.Context(), now.GetName(), metav1.GetOptions{}))
	}
	hasStatus := want.GetKind() != "Application" // an Application has no status subresource
	if next := fields(want, hasStatus); !reflect.DeepEqual(next, fields(now, hasStatus)) ||
		!reflect.DeepEqual(want.GetFinalizers(), now.GetFinalizers()) {
		next["metadata"] = now.DeepCopy().Object["metadata"]
		changed := &unstructured.Unstructured{Object: next}
		changed.SetFinalizers(want.GetFinalizers())
		must(objects.Update(t.Context(), changed, metav1.UpdateOptions{}))
	}
	if status := want.Object["status"]; hasStatus && status != nil && !reflect.DeepEqual(status, now.Object["status"]) {
		next := now.DeepCopy()
		next.Object["status"] = status
		must(objects.UpdateStatus(t.Context(), next, metav1.UpdateOptions{}))
	}
	if now.GetGeneration() != recorded.GetGeneration() {
		t.Fatalf("%s %s: generation %d, recorded as %d", event, key, now.GetGeneration(), recorded.GetGeneration())
	}
	s.replayed[key] = now
}

// fields returns the fields of an object without its metadata. If the kind has a status subresource, it leaves out the
// status too.
func fields(o *unstructured.Unstructured, hasStatus bool) map[string]any {
	all := maps.Clone(o.Object)
	delete(all, "metadata")
	if hasStatus {
		delete(all, "status")
	}
	return all
}
