package pattern_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/pattern"
)

// TestSize checks the number of instructions of a regular expression with its repetitions expanded. An expression that
// is too large is an error before it is compiled.
func TestSize(t *testing.T) {
	tests := []struct {
		expr  string
		match int64 // the number of instructions; 0 if the expression is too large
	}{
		{"abc", 3},
		{"a{500}", 1000},
		{"(a|b){100}", 300},
		{"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", 128},
		{"(((a{10}){10}){10})", 2221},
		{strings.Repeat("a", pattern.MaxSize), pattern.MaxSize},
		{strings.Repeat("a", pattern.MaxSize+1), 0},
		{strings.Repeat("(abcdef){1000}", 2), 0},
	}
	for _, tt := range tests {
		size, err := pattern.Size(tt.expr)
		switch refused := tt.match == 0 || tt.match > pattern.MaxSize; {
		case refused && (err == nil || !strings.Contains(err.Error(), "at most 10000")):
			t.Errorf("%.20q: %v, want an error that names the bound", tt.expr, err)
		case !refused && (err != nil || size < tt.match/2 || size > 2*tt.match):
			t.Errorf("%.20q: %d instructions, %v; want about %d", tt.expr, size, err, tt.match)
		}
	}
}
