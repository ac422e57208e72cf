package record_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
)

func TestRecord(t *testing.T) {
	written := record.New("dev", []string{"small", "large"}, "", []string{"b@1:x", "a@1:x&<>"},
		origin.Sources{"https://b@main:.": "c2", "https://a@main:.": "c1"})
	text := written.Marshal()
	want := `{
  "version": 1,
  "environment": "dev",
  "cluster_types": [
    "large",
    "small"
  ],
  "origins": [
    "a@1:x&<>",
    "b@1:x"
  ],
  "sources": {
    "https://a@main:.": "c1",
    "https://b@main:.": "c2"
  }
}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("encoded record (-want +got):\n%s", diff)
	}
	got, err := record.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, got); diff != "" {
		t.Errorf("after the round trip (-want +got):\n%s", diff)
	}
	// A record of an older provider has no sources. Its origins contain the commits.
	old := "https://a@" + strings.Repeat("1", 40) + ":x.yaml"
	older := `{"version":1,"environment":"dev","cluster_types":[],"origins":["` + old + `"]}`
	got, err = record.Parse([]byte(older))
	if origins := got.Sources.Resolve(got.Origins); err != nil || len(origins) != 1 ||
		origins[0].Commit != strings.Repeat("1", 40) {
		t.Errorf("the record of an older provider is %v (%v)", got, err)
	}
	for text, said := range map[string]string{
		``:                                  "it was changed",
		`[]`:                                "it was changed",
		`{}`:                                "lacks its version or environment",
		`{"version":2,"environment":"dev"}`: "a newer version of the provider wrote it: it has version 2",
		`{"version":99,"environment":{"name":"dev"},"cluster_types":["../x"],"decisions":7}`: "upgrade the provider",
		`{"version":99,"environment":`: "it was changed",
		`{"version":"99"}`:             "it was changed",
		`{"version":1}`:                "lacks its version or environment",
		`{"version":1,"environment":"dev","cluster_types":["../x"]}`:   `"../x"`,
		`{"version":1,"environment":"dev","cluster_types":[".git"]}`:   `".git"`,
		`{"version":1,"environment":"d\u0000"}`:                        `"d\x00" in it has control`,
		`{"version":1,"environment":"dev","promoted_commit":"\u001b"}`: `"\x1b" in it has control`,
	} {
		_, err := record.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Fatalf("%s: the error is %v, want %q", text, err, said)
		}
		if newer := strings.Contains(err.Error(), "upgrade the provider"); errors.Is(err, record.ErrNewer) != newer {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
}

// TestRecordOfWrongTypes: a record with a value of the wrong type is reported without Go's types.
func TestRecordOfWrongTypes(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1, "environment": ["dev"]}`:   "it was changed (environment is of the wrong type: array); restore it",
		`[]`:                                       "it was changed (the whole file is of the wrong type: array); restore it",
		`{"version": 1, "environment": "dev"} x`:   "(invalid character 'x' after top-level value); restore it",
		`{"version": 1}` + "\n" + `{"version": 1}`: "(invalid character '{' after top-level value); restore it",
		`{`: "it was changed (unexpected end of JSON input); restore it",
	} {
		_, err := record.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
