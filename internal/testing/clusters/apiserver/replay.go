package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// Replay sets an object to its state in a recorded watch event. event is the type of the event. It writes to etcd: the
// API server would set the generation and the time of a deletion anew.
func (s *Server) Replay(t testing.TB, event string, recorded *unstructured.Unstructured) {
	t.Helper()
	plural, _ := meta.UnsafeGuessKindToResource(recorded.GroupVersionKind())
	key := path.Join(registry, plural.Group, plural.Resource, recorded.GetNamespace(), recorded.GetName())
	value, err := recorded.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	call, arguments := "put", map[string][]byte{"key": []byte(key), "value": value}
	if event == string(watch.Deleted) {
		call, arguments = "deleterange", map[string][]byte{"key": []byte(key)}
	}
	body, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.etcd+"/v3/kv/"+call, "application/json", bytes.NewReader(body))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %v, %v", event, key, answer, err)
	}
	_ = answer.Body.Close()
}
