package page_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// TestDecodeEscapedKeys: if two keys of an object become the same text, always the same one counts.
func TestDecodeEscapedKeys(t *testing.T) {
	for range 20 {
		var got map[string]any
		data := map[string]any{"a\u202e": "1", `a\u202e`: "2\n", "b": []any{"\x00", 3.0, nil}}
		if err := page.Decode(data, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{`a\u202e`: "1", "b": []any{`\x00`, 3.0, nil}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}
