package fleet

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Validate sorts the fleet and returns its problems, sorted. It validates each object by itself, and finds duplicate
// objects, Workloads with too many targets, and placements that name properties or labels that no cluster type has. It
// stops once ctx is done. [Fleet.ValidateReferences] checks the templates that cluster types name. After Validate,
// [Fleet.DeploymentTargets] omits the targets that it refused.
func (f *Fleet) Validate(ctx context.Context) problem.Problems {
	f.Sort()
	var ps problem.Problems
	ps = append(ps, validateEnvironment(f.Environment)...)
	seen := map[string]Object{}
	for _, o := range f.Objects() {
		if ctx.Err() != nil {
			return ps
		}
		found := validate(o)
		if w, ok := o.(*Workload); ok {
			f.SetAffected(w, found)
		}
		ps = append(ps, found...)
		m := o.Metadata()
		if unknown.Is(m.Name) {
			continue
		}
		id := string(o.Kind()) + "/" + m.Name
		if first, twice := seen[id]; twice {
			ps = append(ps, ProblemOf(o, problem.Problem{
				Summary: "Duplicate object",
				Detail: fmt.Sprintf("%s %q is defined twice: in %s and in %s. Rename or remove one of them.",
					o.Kind(), m.Name, originText(first), originText(o)),
				Path: []problem.Step{problem.Attr("name")},
			}))
			continue
		}
		seen[id] = o
	}
	ps = append(ps, f.checkTargetsPerWorkload()...)
	ps = append(ps, f.checkPlacements()...)
	ps.Sort()
	f.refused = ps.AffectedEverywhere()
	return ps
}

func validate(o Object) problem.Problems {
	defer problem.NamePanic(string(o.Kind()), o.Metadata().Name)
	return o.Validate()
}

func originText(o Object) string {
	if s := o.Metadata().Origin.String(); s != "" {
		return s
	}
	return "an object without a key"
}

func validateEnvironment(name string) problem.Problems {
	var ps objectProblems
	if !unknown.Is(name) {
		ps.refuse("Invalid environment name", name, validation.IsDNS1123Label(name), problem.Attr("environment"))
	}
	return problem.Problems(ps)
}

// Validate implements [Object].
func (ct *ClusterType) Validate() problem.Problems {
	ps := ct.validateMeta()
	ps.require(&ct.Meta, "reconciler", ct.Reconciler)
	ps.require(&ct.Meta, "namespace_service", ct.NamespaceService)
	ps = append(ps, ct.validateTaints()...)
	return ps.of(ct)
}

var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Validate implements [Object]. The package render checks whether the manifests parse.
func (t *Template) Validate() problem.Problems {
	ps := t.validateMeta()
	inYAML := t.Origin.Document > 0
	enum := func(attribute, value string, allowed []string) {
		if unknown.Is(value) || slices.Contains(allowed, value) {
			return
		}
		detail := fmt.Sprintf("%q is not one of %s.", value, strings.Join(allowed, ", "))
		if inYAML {
			ps.warn("Unknown "+YAMLName(attribute), detail, problem.Attr(attribute))
		} else {
			ps.add("Invalid "+attribute, detail, problem.Attr(attribute))
		}
	}
	enum("type", t.Type, TemplateTypes)
	if t.ContentType != "" {
		enum("content_type", t.ContentType, ContentTypes)
	}
	if t.FileName != "" && !unknown.Is(t.FileName) && !fileName.MatchString(t.FileName) {
		ps.add("Invalid file name", fmt.Sprintf("%q is not the name of a file in the deployment target's folder. It "+
			"begins with "+
			"a letter or digit, and contains only letters, digits, \".\", \"_\" and \"-\", at most 100.", t.FileName),
			problem.Attr("file_name"))
	}
	return ps.of(t)
}

// Validate implements [Object].
func (c *Config) Validate() problem.Problems {
	ps := c.validateMeta()
	for _, k := range slices.Sorted(maps.Keys(c.Data)) {
		if unknown.Is(k) {
			continue
		}
		ps.refuse("Invalid config key", k, validation.IsConfigMapKey(k), problem.Attr("data"), problem.Key(k))
	}
	return ps.of(c)
}

// Validate implements [Object]. The package configure checks whether the schema compiles.
func (s *ConfigSchema) Validate() problem.Problems {
	ps := s.validateMeta()
	ps.require(&s.Meta, "schema", s.Schema)
	return ps.of(s)
}

// Validate implements [Object].
func (p *SchedulingPolicy) Validate() problem.Problems {
	ps := p.validateMeta()
	if p.Workspace != "" {
		ps.labelValue(p.Workspace, "Invalid workspace", problem.Attr("deployment_target_selector"), problem.Attr("workspace"))
	}
	ps = append(ps, ValidateSelector(&p.DeploymentTargets, problem.Attr("deployment_target_selector"))...)
	ps = append(ps, ValidateSelector(&p.ClusterTypes, problem.Attr("cluster_type_selector"))...)
	ps = append(ps, p.validatePlacement()...)
	return ps.of(p)
}

// Validate implements [Object].
func (w *Workload) Validate() problem.Problems {
	var ps objectProblems
	ps.name(w.Name, w.Name, "Invalid name", problem.Attr("name"))
	ps = append(ps, faults(func(ps *objectProblems) { ps.labels(w.Labels, problem.Attr("labels")) })...)
	prefix := w.Name + "-"
	if len(validation.IsDNS1123Subdomain(w.Name)) > 0 {
		prefix = "" // so that the fault is reported once, not for each target
	}
	seen := map[string]bool{}
	for i, t := range w.Targets {
		at := func(steps ...problem.Step) []problem.Step {
			return append([]problem.Step{problem.Attr("deployment_targets"), problem.Index(i)}, steps...)
		}
		ps.name(prefix+t.Name, t.Name, "Invalid deployment target name", at(problem.Attr("name"))...)
		ps = append(ps, faults(func(ps *objectProblems) {
			ps.labels(t.Labels, at(problem.Attr("labels"))...)
			ps.checkTeamTexts(t.Name, t.Manifests, at(problem.Attr("manifests"))...)
			if t.Environment == "" {
				ps.add(
					"Missing environment",
					fmt.Sprintf("Deployment target %q has no environment, so it would never be rendered.", t.Name),
					at(problem.Attr("environment"))...)
			}
		})...)
		// A duplicate name is one error in each environment.
		id := t.Environment + "/" + t.Name
		if seen[id] && !unknown.Is(t.Name) && !unknown.Is(t.Environment) {
			ps.add("Duplicate deployment target",
				fmt.Sprintf("The workload has two targets named %q in environment %q. Rename or remove one of them.",
					t.Name, t.Environment), at(problem.Attr("name"))...)
		}
		seen[id] = true
	}
	ps = append(ps, faults(func(ps *objectProblems) { *ps = w.validateRequirements() })...)
	return ps.of(w)
}

// Validate implements [Object].
func (r *WorkloadRegistration) Validate() problem.Problems {
	ps := r.validateMeta()
	ps.requireAt(r.Repo, "repo", problem.Attr("workload"), problem.Attr("repo"))
	ps.requireAt(r.Branch, "branch", problem.Attr("workload"), problem.Attr("branch"))
	if r.Workspace != "" {
		ps.labelValue(r.Workspace, "Invalid workspace", problem.Attr("workspace"))
	}
	return ps.of(r)
}

func (m *Meta) validateMeta() (ps objectProblems) {
	ps.name(m.Name, m.Name, "Invalid name", problem.Attr("name"))
	ps.labels(m.Labels, problem.Attr("labels"))
	return ps
}

// name checks that full is a DNS-1123 subdomain. shown is the part of full that the user wrote, for the error.
func (ps *objectProblems) name(full, shown, summary string, path ...problem.Step) {
	if shown == "" {
		ps.add("Missing name", "The name is empty or not set.", path...)
		return
	}
	if unknown.Is(shown) || strings.Contains(full, unknown.Text) {
		return
	}
	msgs := validation.IsDNS1123Subdomain(full)
	if strings.HasPrefix(shown, "-") || strings.HasPrefix(shown, ".") {
		msgs = append(msgs, "it must begin with a letter or a digit")
	}
	ps.refuse(summary, shown, msgs, path...)
}

// validationDetail lists the Kubernetes rules that the text violates, without their regular expressions.
func validationDetail(text string, msgs []string) string {
	broken := make([]string, len(msgs))
	for i, msg := range msgs {
		msg = regexUsed.ReplaceAllString(msg, "$1$2")
		broken[i] = strings.ReplaceAll(msg, "',  or '", "' or '")
	}
	return fmt.Sprintf("%q is not valid: %s.", text, strings.Join(broken, "; "))
}

var regexUsed = regexp.MustCompile(`(\(e\.g\. .*?), regex used for validation is '.*'(\))`)

func (ps *objectProblems) labels(set map[string]string, path ...problem.Step) {
	var odd []string
	for k, v := range set {
		if !isSimpleLabel(k) || !isSimpleLabel(v) {
			odd = append(odd, k)
		}
	}
	slices.Sort(odd)
	for _, k := range odd {
		if unknown.Is(k) {
			continue
		}
		at := append(slices.Clone(path), problem.Key(k))
		ps.labelKey(k, at...)
		ps.labelValue(set[k], fmt.Sprintf("Invalid value of label %q", k), at...)
	}
}

// isSimpleLabel reports whether a text is certainly valid as the key and as the value of a label. Most labels are, so
// the slow regular expressions of Kubernetes are seldom needed.
func isSimpleLabel(s string) bool {
	const most = 63 // characters, as Kubernetes allows
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
		case (c == '-' || c == '_' || c == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != "" && len(s) <= most
}

func (ps *objectProblems) labelKey(key string, path ...problem.Step) {
	ps.refuse("Invalid label key", key, validation.IsQualifiedName(key), path...)
}

func (ps *objectProblems) labelValue(value, summary string, path ...problem.Step) {
	if !unknown.Is(value) {
		ps.refuse(summary, value, validation.IsValidLabelValue(value), path...)
	}
}

func (ps *objectProblems) require(of *Meta, attribute, value string) {
	ps.requireAt(value, of.field(attribute), problem.Attr(attribute))
}

func (ps *objectProblems) requireAt(value, attribute string, path ...problem.Step) {
	if value == "" {
		ps.add("Missing "+attribute, fmt.Sprintf("%s is empty or not set.", attribute), path...)
	}
}

// ValidateSelector returns the problems of a selector by Kubernetes' rules, at paths below path.
func ValidateSelector(s *Selector, path ...problem.Step) problem.Problems {
	var ps objectProblems
	ps.labels(s.MatchLabels, append(slices.Clone(path), problem.Attr("match_labels"))...)
	for i, e := range s.MatchExpressions {
		at := append(slices.Clone(path), problem.Attr("match_expressions"), problem.Index(i))
		if unknown.Is(e.Key) || unknown.Is(string(e.Operator)) || slices.Contains(e.Values, unknown.Text) {
			continue
		}
		takesValues, known := operators[e.Operator]
		if !known {
			ps.add(
				"Invalid operator",
				fmt.Sprintf("%q is not one of In, NotIn, Exists, DoesNotExist.", e.Operator),
				append(at, problem.Attr("operator"))...)
			continue
		}
		ps.labelKey(e.Key, append(slices.Clone(at), problem.Attr("key"))...)
		for j, value := range e.Values {
			ps.labelValue(
				value,
				fmt.Sprintf("Invalid value of label %q", e.Key),
				append(slices.Clone(at), problem.Attr("values"), problem.Index(j))...)
		}
		switch {
		case takesValues && len(e.Values) == 0:
			ps.add("Invalid selector requirement",
				fmt.Sprintf("The operator %s on label %q needs values. Add them, or use Exists or DoesNotExist.",
					e.Operator, e.Key), append(at, problem.Attr("values"))...)
		case !takesValues && len(e.Values) > 0:
			ps.add("Invalid selector requirement",
				fmt.Sprintf("The operator %s on label %q takes no values. Remove them, or use In or NotIn.",
					e.Operator, e.Key), append(at, problem.Attr("values"))...)
		}
	}
	return problem.Problems(ps)
}

// operators lists the selector operators and whether they take values.
var operators = map[metav1.LabelSelectorOperator]bool{
	metav1.LabelSelectorOpIn:           true,
	metav1.LabelSelectorOpNotIn:        true,
	metav1.LabelSelectorOpExists:       false,
	metav1.LabelSelectorOpDoesNotExist: false,
}
