package render

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// TestPassesErrorNamesValues renders values that refer to each other endlessly: the error names the cycle, the same one
// for any starting point.
func TestPassesErrorNamesValues(t *testing.T) {
	refer := func(key string) string { return "{{ .ConfigData." + key + " }}" }
	nested := "text"
	for range maxPasses + 2 {
		nested = "{{ " + strconv.Quote(nested) + " }}"
	}
	tests := []struct {
		name, manifest string
		values         map[string]any
		want           string // the text after that of ErrPasses; empty: none
	}{
		{"itself", refer("A"), map[string]any{"A": "x" + refer("A")}, `the value "A" refers to itself`},
		{"two", refer("B"), map[string]any{"A": refer("B"), "B": refer("A")}, `the value "A" refers to itself through "B"`},
		{"three", refer("C"), map[string]any{"A": refer("B"), "B": refer("C"), "C": refer("A")},
			`the value "A" refers to itself through "B", "C"`},
		{"behind others", refer("Z"),
			map[string]any{"Z": refer("Y") + refer("S"), "Y": refer("X"), "X": refer("Y"), "S": "text"},
			`the value "X" refers to itself through "Y"`},
		{"a key with a dash", `{{ index .ConfigData "a-b" }}`, map[string]any{"a-b": `{{ index .ConfigData "a-b" }}`},
			`the value "a-b" refers to itself`},
		{"deep in a list", "{{ toYaml .ConfigData.L }}", map[string]any{"L": []any{"x", map[string]any{"k": refer("M.k")}},
			"M": map[string]any{"k": "{{ index .ConfigData.L 1 | toYaml }}"}}, `the value "L" refers to itself through "M"`},
		{"all values", "{{ toYaml .ConfigData }}", map[string]any{"A": "{{ toYaml .ConfigData | quote }}", "B": "text"},
			`the value "A" refers to itself`},
		{"two circles", refer("A") + refer("C"), map[string]any{"C": refer("C"), "A": refer("B"), "B": refer("A")},
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
		{"no value", nested, nil, ""},
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
