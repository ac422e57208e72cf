package render

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// TestDataThatTheOperatorLacks renders the labels of the cluster type and the references to secrets, which the operator
// does not have. They are not among the fields that a template gets if it prints all data.
func TestDataThatTheOperatorLacks(t *testing.T) {
	data := testData().With(More{
		ClusterTypeLabels: map[string]string{"region": "eu"},
		SecretData:        map[string]any{"PASSWORD": map[string]any{"store": "vault", "key": "db"}},
	})
	for text, want := range map[string]string{
		"{{ .ClusterTypeLabels.region }} {{ .SecretData.PASSWORD.key }}":                       "eu db",
		`{{ $_ := set .SecretData "B" 1 }}{{ range $k, $v := .SecretData }}{{ $k }} {{ end }}`: "B PASSWORD ",
		`{{ $_ := set .ClusterTypeLabels "b" "c" }}{{ keys .ClusterTypeLabels | join "," }}`:   "b,region",
		`{{ contains "vault" (print .) }}`:                                                     "false",
		`{{ contains "eu" (printf "%+v" .) }}`:                                                 "false",
		`{{ contains "dev-large" (print .) }}`:                                                 "true",
	} {
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, data)
		if err != nil || got != want {
			t.Errorf("%s gives %q, %v; want %q", text, got, err, want)
		}
	}
	if len(data.SecretData()) != 1 || len(data.ClusterTypeLabels()) != 1 {
		t.Error("the template changed its data")
	}
}

// TestValueText checks the texts of values, as the built-in config template writes them.
func TestValueText(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{"a: b", "a: b"},
		{[]any{"a", 1}, "- a\n- 1\n"},
		{map[string]any{"b": true, "a": nil}, "a: null\nb: true\n"},
	} {
		if got := ValueText(tt.value); got != tt.want {
			t.Errorf("%v gives %q, want %q", tt.value, got, tt.want)
		}
	}
}

// TestCheckTemplate checks that each manifest of a template that does not parse is reported, with its number and line.
func TestCheckTemplate(t *testing.T) {
	problems := CheckTemplate(&fleet.Template{
		Meta:      fleet.Meta{Name: "t"},
		Manifests: []string{"a: {{ .X }}", "a: {{ .X", "{{ none }}"},
	})
	if len(problems) != 2 {
		t.Fatalf("%d problems: %v", len(problems), problems)
	}
	unclosed, undefined := "Manifest 2, line 1: unclosed action", `Manifest 3, line 1: function "none" not defined`
	if d := problems[0].Detail; !strings.Contains(d, unclosed) {
		t.Errorf("%q does not contain %q", d, unclosed)
	}
	if d := problems[1].Detail; !strings.Contains(d, undefined) {
		t.Errorf("%q does not contain %q", d, undefined)
	}
}

// TestGrowingResults checks the limit of a function's result. If the result would be far too large, the function is not
// called. Calls with large arguments and a small result are allowed.
func TestGrowingResults(t *testing.T) {
	const (
		long = `{{ $t := repeat 100000 "ab\n" }}`
		more = "error calling printf: it may return up to"
	)
	for text, want := range map[string]string{
		`{{ repeat -5 "x" | len }}`:                                           "negative Repeat count",
		long + `{{ nindent 2 $t | len }}`:                                     "500003",
		long + `{{ replace "a" "abc" $t | len }}`:                             "500000",
		long + `{{ regexReplaceAll "a(b)" $t "$1" | len }}`:                   "200000",
		long + `{{ wrapWith 80 "<br>" $t | len | lt 100000 }}`:                "true",
		long + `{{ join ", " (splitList "\n" $t) | len }}`:                    "400000",
		long + `{{ printf "%-10s %s" "x" $t | len }}`:                         "300011",
		`{{ printf "%d %%" (len (printf "%0*d" 500 7)) }}`:                    "500 %",
		long + `{{ repeat 1000 $t }}`:                                         "repeat: it may return up to 300000000 bytes",
		long + `{{ nindent 10000 $t }}`:                                       "it may return up to 3000000000 bytes",
		long + `{{ nindent 100 $t }}`:                                         "nindent: it returns 10300101 bytes",
		`{{ printf "%9999999d" 1 }}`:                                          "printf: it returns 9999999 bytes",
		`{{ printf (repeat 7 "%[1]9999999d") 1 }}`:                            more,
		`{{ printf (repeat 10000 "%[1]*[2]d") 99999 1 }}`:                     more,
		`{{ printf (print "%" (repeat 30 "9") "d" (repeat 100 "%[1]d")) 1 }}`: more,
	} {
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, Data{})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s gives %.200q, want %q", text, got, want)
		}
	}
}
