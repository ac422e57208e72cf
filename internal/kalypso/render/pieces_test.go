package render

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestRenderingByPieces renders random templates for several assignments: each template is cut into pieces, whose
// results the assignments share. The result must be the same as text/template renders for the whole template and a new
// copy of the data.
func TestRenderingByPieces(t *testing.T) {
	templates, failed, missing, rendered := 0, 0, 0, 0
	for seed := range seeds.Of(t, 500, 1500) {
		templates++
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
		text := g.nodes(3)
		m, err := parseManifest(text)
		if err != nil {
			if _, plainErr := template.New("").Funcs(functions).Parse(text); plainErr == nil {
				t.Fatalf("seed %d: %q does not parse: %v", seed, text, err)
			}
			continue
		}
		r := &Renderer{limits: fleet.DefaultLimits}
		subjects := subjectsOf()
		for _, clusterType := range []string{"large", "small"} {
			w := r.worker(t.Context(), &Buffer{})
			ofType := &clusterTypeInput{}
			for _, s := range subjects {
				s.ofType = ofType
				s.data.ClusterType = clusterType
				s.data.Namespace = "dev-" + clusterType + "-" + s.data.DeploymentTargetName
				want, wantErr := renderWhole(text, s.data.clone())
				w.buffer.Reset()
				err := w.manifest(m, s)
				got := w.buffer.content.String()
				switch {
				case errors.Is(wantErr, errMayBeMissing):
					if errors.As(err, new(*MissingValueError)) {
						missing++
					} else if err != nil || got != want {
						t.Errorf("seed %d: %q on %s gives %q, %v, want %q", seed, text, s.data.Namespace, got, err, want)
					}
				case wantErr != nil:
					failed++
					if err == nil {
						t.Errorf("seed %d: %q on %s gives %q, want the error %v", seed, text, s.data.Namespace, got, wantErr)
					}
					if errors.As(wantErr, new(*MissingValueError)) {
						missing++
						if !errors.As(err, new(*MissingValueError)) {
							t.Errorf("seed %d: %q on %s fails with %v, want %v", seed, text, s.data.Namespace, err, wantErr)
						}
					}
				case err != nil:
					t.Errorf("seed %d: %q on %s: %v, want %q", seed, text, s.data.Namespace, err, want)
				default:
					rendered++
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("seed %d: %q on %s (-want +got):\n%s", seed, text, s.data.Namespace, d)
					}
				}
			}
		}
	}
	if seeds.Single() {
		return
	}
	if rendered < templates || missing < templates/20 {
		t.Errorf(
			"%d rendered, %d failed, %d of them for a missing value: too few to test each",
			rendered,
			failed,
			missing,
		)
	}
}

// errMayBeMissing means that a function got a missing or null value. Whether this is an error depends on the use of its
// result.
var errMayBeMissing = errors.New("a function got a missing value")

// renderWhole returns the text as text/template renders it. It renders again until the result contains no template. If
// a function got a missing value, it also returns errMayBeMissing.
func renderWhole(text string, data Data) (string, error) {
	var noted error
	for range maxPasses + 1 {
		if !strings.Contains(text, "{{") {
			return text, noted
		}
		tmpl, err := template.New(manifestName).Funcs(noting(&noted)).Parse(text)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		if err := tmpl.Execute(&b, data.clone()); err != nil {
			return "", err
		}
		text = b.String()
		if strings.Contains(text, "<no value>") {
			return "", &MissingValueError{}
		}
	}
	if strings.Contains(text, "{{") {
		return "", ErrTooManyPasses
	}
	return text, noted
}

// noting returns the functions of templates. They set noted if they get a missing value and don't ask for it.
func noting(noted *error) template.FuncMap {
	fs := template.FuncMap{}
	for name, f := range functions {
		fn := reflect.ValueOf(f)
		call := fn.Call
		if fn.Type().IsVariadic() {
			call = fn.CallSlice
		}
		fs[name] = reflect.MakeFunc(fn.Type(), func(args []reflect.Value) []reflect.Value {
			for _, arg := range args {
				isMissing := arg.Kind() == reflect.Interface && arg.IsNil()
				if arg.Kind() == reflect.Slice && arg.Type().Elem().Kind() == reflect.Interface {
					for i := range arg.Len() {
						isMissing = isMissing || arg.Index(i).IsNil()
					}
				}
				if isMissing && !asks[name] {
					*noted = errMayBeMissing
				}
			}
			return call(args)
		}).Interface()
	}
	fs["index"] = func(of any, key string) any {
		switch of := of.(type) {
		case map[string]any:
			return of[key]
		case map[string]string:
			if v, ok := of[key]; ok {
				return v
			}
		}
		return nil
	}
	return fs
}

// subjectsOf returns assignments that share values and targets with each other.
func subjectsOf() []*assignmentInput {
	shared := &configure.Values{Shared: true}
	own := &configure.Values{}
	config := func(s string) map[string]any {
		return map[string]any{
			"s": s, "e": "", "t": "{{ .ClusterType }}",
			"m": map[string]any{"k": "v-" + s, "n": nil, "d": map[string]any{"x": 1}},
			"l": []any{"one", "two", map[string]any{"k": s}},
		}
	}
	sharedConfig := config("shared")
	var subjects []*assignmentInput
	for i, values := range []*configure.Values{shared, shared, own} {
		data := sharedConfig
		if values == own {
			data = config("own")
		}
		target := &fleet.DeploymentTarget{Name: fmt.Sprintf("app-%d", i)}
		ofTarget := &targetInput{shared: i != 1}
		subjects = append(subjects, &assignmentInput{target: target, ofTarget: ofTarget, values: values, data: Data{
			DeploymentTargetName: target.Name,
			Environment:          "dev",
			Workspace:            "team",
			Workload:             "app",
			Labels:               map[string]string{"a": fmt.Sprint(i), "workload": "app"},
			Manifests: map[string]string{
				"repo": fmt.Sprintf("https://example.com/%d", i),
				"path": "./" + target.Name,
			},
			ConfigData: data,
		}})
	}
	return subjects
}

// generator writes random templates.
type generator struct {
	*rand.Rand
	defined int
	loops   int
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) nodes(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.node(depth))
	}
	return b.String()
}

func (g *generator) node(depth int) string {
	n := g.IntN(22)
	if depth == 0 {
		n = g.IntN(12)
	}
	open, end := g.one("{{ ", "{{- "), g.one(" }}", " -}}")
	action := func(text string) string { return open + text + end }
	switch n {
	case 0, 1, 2:
		return g.one("text", "key: ", "\n", "  - ", " ", "---\n")
	case 3:
		return g.one("{{/* a comment */}}", "{{- /* trimmed */ -}}")
	case 4, 5, 6, 7, 8, 9, 10, 11:
		if g.loops > 0 && g.IntN(8) == 0 {
			return action(g.one("break", "continue"))
		}
		return action(g.pipeline())
	case 12:
		return action("if "+g.pipeline()) + g.nodes(depth-1) + action("end")
	case 13:
		return action(
			"if "+g.pipeline(),
		) + g.nodes(
			depth-1,
		) + action(
			"else if "+g.pipeline(),
		) + g.nodes(
			depth-1,
		) + action(
			"else",
		) + g.nodes(
			depth-1,
		) + action(
			"end",
		)
	case 14:
		return action(
			g.one("with ", "with $w := ")+g.pipeline(),
		) + g.nodes(
			depth-1,
		) + action(
			"else",
		) + g.nodes(
			depth-1,
		) + action(
			"end",
		)
	case 15, 16:
		head := action(
			"range " + g.one(
				"",
				"$e := ",
				"$i, $e := ",
			) + g.one(
				".ConfigData.l",
				".Labels",
				".ConfigData",
				"$.ConfigData.m",
				"(list 1 2 3)",
				".ConfigData.missing",
			),
		)
		g.loops++
		body := g.nodes(depth - 1)
		g.loops--
		return head + body + action("else") + g.nodes(depth-1) + action("end")
	case 17:
		g.defined++
		name := fmt.Sprintf("%q", fmt.Sprint("t", g.defined))
		loops := g.loops
		g.loops = 0
		body := g.nodes(depth - 1)
		g.loops = loops
		if g.IntN(3) == 0 {
			return action("block "+name+" "+g.operand()) + body + action("end")
		}
		return action("define "+name) + body + action("end") + action("template "+name+" "+g.one("", ".", "$", g.operand()))
	case 18:
		return action(
			"$x := "+g.pipeline(),
		) + g.nodes(
			depth-1,
		) + g.one(
			"",
			action("$x"),
			action("$x = 1"),
			action("with $x")+"{{ . }}"+action("end"),
		)
	case 19:
		return action(g.one(`$_ := set .ConfigData "s" "changed"`, `$_ := unset $.Labels "a"`, `set .ConfigData.m "new" `+
			`.Namespace | toJson`,
			`merge .ConfigData (dict "s" "merged" "z" (dict)) | toJson`))
	default:
		return action(g.pipeline())
	}
}

func (g *generator) operand() string {
	return g.one(
		".Namespace",
		".ClusterType",
		".DeploymentTargetName",
		".Environment",
		".Workspace",
		".Labels.a",
		".Labels",
		".Labels.missing",
		".ConfigData.s",
		".ConfigData.e",
		".ConfigData.m",
		".ConfigData.m.k",
		".ConfigData.m.n",
		".ConfigData.l",
		".ConfigData.missing",
		".Manifests.repo",
		".Repo",
		".Path",
		".Branch",
		"$.Namespace",
		"$.ConfigData.s",
		"$.Labels.a",
		"(.ConfigData.m).k",
		"(.ConfigData).s",
		"($).ClusterType",
		".ConfigData.t",
		".k",
		".",
		"$",
		`"text"`,
		"3",
		"true",
	)
}

func (g *generator) pipeline() string {
	switch g.IntN(12) {
	case 0:
		return g.operand() + " | quote"
	case 1:
		return "toYaml " + g.operand()
	case 2:
		return g.operand() + ` | default "d"`
	case 3:
		return fmt.Sprintf(
			g.one(`index .ConfigData %q`, `get .Labels %q`, `hasKey .Manifests %q`, `index $.Manifests %q`),
			g.one("s", "a", "repo", "none"),
		)
	case 4:
		return "hash " + g.operand()
	case 5:
		return `printf "%v/%v" ` + g.operand() + " " + g.operand()
	case 6:
		return "and " + g.operand() + " " + g.operand()
	case 7:
		return "stringify .ConfigData | indent 2"
	default:
		return g.operand()
	}
}
