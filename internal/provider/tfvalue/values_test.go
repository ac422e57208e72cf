package tfvalue

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// TestResultsAreUTF8 checks that Terraform gets no bytes that are no text, such as names of files in Git.
func TestResultsAreUTF8(t *testing.T) {
	texts := types.MapType{ElemType: types.StringType}
	for name, got := range map[string]interface{ String() string }{
		`"caf\\xe9"`:             Result(types.StringType, "caf\xe9"),
		`{"\\xe9":"\\xff\\xfe"}`: Result(texts, map[string]string{"\xe9": "\xff\xfe"}),
		`["\\xed\\xa0\\x80 é"]`:  StringListOf([]string{"\xed\xa0\x80 é"}),
		`"\\x80"`:                Nullable("\x80"),
		"\"\ufffd\"":             Text("\ufffd"),
	} {
		if got.String() != name {
			t.Errorf("the value is %s, want %s", got, name)
		}
	}
}
