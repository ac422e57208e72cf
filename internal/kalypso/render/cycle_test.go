package render

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// TestErrorNamesCycleOfValues renders values that refer to each other endlessly. The error names the cycle, and is the
// same whichever value the template refers to.
func TestErrorNamesCycleOfValues(t *testing.T) {
	refer := func(key string) string { return "{{ .ConfigData." + key + " }}" }
	nested := "text"
	for range maxPasses + 2 {
		nested = "{{ " + strconv.Quote(nested) + " }}"
	}
	tests := []struct {
		name, manifest string
		values         map[string]any
		want           string // the text after ErrTooManyPasses, or empty
	}{
		{"a value that refers to itself", refer("A"), map[string]any{"A": "x" + refer("A")},
			`the value "A" refers to itself`},
		{"a cycle of two values", refer("B"), map[string]any{"A": refer("B"), "B": refer("A")},
			`the value "A" refers to itself through "B"`},
		{"a cycle of three values", refer("C"), map[string]any{"A": refer("B"), "B": refer("C"), "C": refer("A")},
			`the value "A" refers to itself through "B", "C"`},
		{"a cycle behind other values", refer("Z"),
			map[string]any{"Z": refer("Y") + refer("S"), "Y": refer("X"), "X": refer("Y"), "S": "text"},
			`the value "X" refers to itself through "Y"`},
		{"a key with a dash", `{{ index .ConfigData "a-b" }}`, map[string]any{"a-b": `{{ index .ConfigData "a-b" }}`},
			`the value "a-b" refers to itself`},
		{"a cycle through elements of a list and a map", "{{ toYaml .ConfigData.L }}",
			map[string]any{"L": []any{"x", map[string]any{"k": refer("M.k")}},
				"M": map[string]any{"k": "{{ index .ConfigData.L 1 | toYaml }}"}}, `the value "L" refers to itself through "M"`},
		{"a value that contains all values", "{{ toYaml .ConfigData }}",
			map[string]any{"A": "{{ toYaml .ConfigData | quote }}", "B": "text"},
			`the value "A" refers to itself`},
		{"two cycles", refer("A") + refer("C"), map[string]any{"C": refer("C"), "A": refer("B"), "B": refer("A")},
			`the value "A" refers to itself through "B"`},
		{
			"a chain that is too long",
			refer("J"),
			map[string]any{
				"J": refer(
					"I",
				),
				"I": refer("H"),
				"H": refer("G"),
				"G": refer("F"),
				"F": refer("E"),
				"E": refer("D"),
				"D": refer("C"),
				"C": refer("B"),
				"B": refer("A"),
				"A": "end",
			},
			`values may refer to each other at most 8 levels deep, and "A" is deeper`,
		},
		{"nested texts, without a value", nested, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := testData()
			data.ConfigData = tt.values
			_, err := Text(t.Context(), &fleet.Template{Meta: fleet.Meta{Name: "t"}, Manifests: []string{tt.manifest}}, data)
			want := ErrTooManyPasses.Error()
			if tt.want != "" {
				want += ": " + tt.want
			}
			if !errors.Is(err, ErrTooManyPasses) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v\ndoes not end in %q", err, want)
			}
		})
	}
}
