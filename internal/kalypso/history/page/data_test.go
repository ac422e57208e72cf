package page_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// TestReadableKeys: if two keys of an object become the same text, always the same one counts.
func TestReadableKeys(t *testing.T) {
	for range 20 {
		got := page.Readable(map[string]any{"a\u202e": "1", `a\u202e`: "2\n", "b": []any{"\x00", 3.0, nil}})
		want := map[string]any{`a\u202e`: "1", "b": []any{`\x00`, 3.0, nil}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}
