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
)

// Validate sorts the fleet and returns its problems, sorted. It validates each object by itself, and finds duplicate
// objects, Workloads with too many targets, and placements that name what no cluster type has. It stops once ctx is
// done. [Fleet.ValidateReferences] checks the templates that cluster types name. From then on,
// [Fleet.DeploymentTargets] omits the targets that Validate refused.
func (f *Fleet) Validate(ctx context.Context) Problems {
	f.Sort()
	var ps Problems
	ps = append(ps, validateEnvironment(f.Environment)...)
	seen := map[string]Object{}
	for _, o := range f.Objects() {
		if ctx.Err() != nil {
			return ps
		}
		found := o.Validate()
		if w, ok := o.(*Workload); ok {
			f.SetAffected(w, found)
		}
		ps = append(ps, found...)
		m := o.Metadata()
		if IsUnknown(m.Name) {
			continue
		}
		id := string(o.Kind()) + "/" + m.Name
		if first, twice := seen[id]; twice {
			ps = append(ps, Problems{{
				Summary: "Duplicate object",
				Detail: fmt.Sprintf("%s %q is defined twice: in %s and in %s. Rename or remove one of them.",
					o.Kind(), m.Name, originText(first), originText(o)),
				Path: []Step{Attr("name")},
			}}.forObject(o)...)
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

func originText(o Object) string {
	if s := o.Metadata().Origin.String(); s != "" {
		return s
	}
	return "an object without a key"
}

func validateEnvironment(name string) (ps Problems) {
	if IsUnknown(name) {
		return nil
	}
	if msgs := validation.IsDNS1123Label(name); len(msgs) > 0 {
		ps = append(ps, Problem{
			Path:    []Step{Attr("environment")},
			Summary: "Invalid environment name",
			Detail:  validationDetail(name, msgs),
		})
	}
	return ps
}

// Validate implements [Object].
func (ct *ClusterType) Validate() Problems {
	ps := ct.validateMeta()
	ps.require(&ct.Meta, "reconciler", ct.Reconciler)
	ps.require(&ct.Meta, "namespace_service", ct.NamespaceService)
	ps = append(ps, ct.validateTaints()...)
	return ps.forObject(ct)
}

// Validate implements [Object]. The package render checks whether the manifests parse.
func (t *Template) Validate() Problems {
	ps := t.validateMeta()
	inYAML := t.Origin.Document > 0
	enum := func(attribute, value string, allowed []string) {
		if IsUnknown(value) || slices.Contains(allowed, value) {
			return
		}
		detail := fmt.Sprintf("%q is not one of %s.", value, strings.Join(allowed, ", "))
		if inYAML {
			ps.warn("Unknown "+YAMLName(attribute), detail, Attr(attribute))
		} else {
			ps.add("Invalid "+attribute, detail, Attr(attribute))
		}
	}
	enum("type", t.Type, TemplateTypes)
	if t.ContentType != "" {
		enum("content_type", t.ContentType, ContentTypes)
	}
	return ps.forObject(t)
}

// Validate implements [Object].
func (c *Config) Validate() Problems {
	ps := c.validateMeta()
	for _, k := range slices.Sorted(maps.Keys(c.Data)) {
		if IsUnknown(k) {
			continue
		}
		if msgs := validation.IsConfigMapKey(k); len(msgs) > 0 {
			ps.add("Invalid config key", validationDetail(k, msgs), Attr("data"), Key(k))
		}
	}
	return ps.forObject(c)
}

// Validate implements [Object]. The package configure checks whether the schema compiles.
func (s *ConfigSchema) Validate() Problems {
	ps := s.validateMeta()
	ps.require(&s.Meta, "schema", s.Schema)
	return ps.forObject(s)
}

// Validate implements [Object].
func (p *SchedulingPolicy) Validate() Problems {
	ps := p.validateMeta()
	if p.Workspace != "" {
		ps.labelValue(p.Workspace, "Invalid workspace", Attr("deployment_target_selector"), Attr("workspace"))
	}
	ps = append(ps, ValidateSelector(&p.DeploymentTargets, Attr("deployment_target_selector"))...)
	ps = append(ps, ValidateSelector(&p.ClusterTypes, Attr("cluster_type_selector"))...)
	ps = append(ps, p.validatePlacement()...)
	return ps.forObject(p)
}

// Validate implements [Object].
func (w *Workload) Validate() Problems {
	var ps Problems
	ps.name(w.Name, w.Name, "Invalid name", Attr("name"))
	ps = append(ps, faults(func(ps *Problems) { ps.labels(w.Labels, Attr("labels")) })...)
	prefix := w.Name + "-"
	if len(validation.IsDNS1123Subdomain(w.Name)) > 0 {
		prefix = "" // reported once, not for each target
	}
	seen := map[string]bool{}
	for i, t := range w.Targets {
		at := func(steps ...Step) []Step { return append([]Step{Attr("deployment_targets"), Index(i)}, steps...) }
		ps.name(prefix+t.Name, t.Name, "Invalid deployment target name", at(Attr("name"))...)
		ps = append(ps, faults(func(ps *Problems) {
			ps.labels(t.Labels, at(Attr("labels"))...)
			ps.checkTeamTexts(t.Name, t.Manifests, at(Attr("manifests"))...)
			if t.Environment == "" {
				ps.add(
					"Missing environment",
					fmt.Sprintf("Deployment target %q has no environment, so it would never be rendered.", t.Name),
					at(Attr("environment"))...)
			}
		})...)
		// A duplicate name is one error in each environment.
		id := t.Environment + "/" + t.Name
		if seen[id] && !IsUnknown(t.Name) && !IsUnknown(t.Environment) {
			ps.add("Duplicate deployment target",
				fmt.Sprintf("The workload has two targets named %q in environment %q. Rename or remove one of them.",
					t.Name, t.Environment), at(Attr("name"))...)
		}
		seen[id] = true
	}
	return ps.forObject(w)
}

// Validate implements [Object].
func (r *WorkloadRegistration) Validate() Problems {
	ps := r.validateMeta()
	ps.requireAt(r.Repo, "repo", Attr("workload"), Attr("repo"))
	ps.requireAt(r.Branch, "branch", Attr("workload"), Attr("branch"))
	if r.Workspace != "" {
		ps.labelValue(r.Workspace, "Invalid workspace", Attr("workspace"))
	}
	return ps.forObject(r)
}

func (m *Meta) validateMeta() (ps Problems) {
	ps.name(m.Name, m.Name, "Invalid name", Attr("name"))
	ps.labels(m.Labels, Attr("labels"))
	return ps
}

// name checks that full is a DNS-1123 subdomain. shown is the part of it that the user wrote.
func (ps *Problems) name(full, shown, summary string, path ...Step) {
	if shown == "" {
		ps.add("Missing name", "The name is empty or not set.", path...)
		return
	}
	if IsUnknown(shown) || strings.Contains(full, Unknown) {
		return
	}
	msgs := validation.IsDNS1123Subdomain(full)
	if strings.HasPrefix(shown, "-") || strings.HasPrefix(shown, ".") {
		msgs = append(msgs, "it must begin with a letter or a digit")
	}
	if len(msgs) > 0 {
		ps.add(summary, validationDetail(shown, msgs), path...)
	}
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

func (ps *Problems) labels(set map[string]string, path ...Step) {
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if IsUnknown(k) {
			continue
		}
		at := append(slices.Clone(path), Key(k))
		ps.labelKey(k, at...)
		ps.labelValue(set[k], fmt.Sprintf("Invalid value of label %q", k), at...)
	}
}

func (ps *Problems) labelKey(key string, path ...Step) {
	if msgs := validation.IsQualifiedName(key); len(msgs) > 0 {
		ps.add("Invalid label key", validationDetail(key, msgs), path...)
	}
}

func (ps *Problems) labelValue(value, summary string, path ...Step) {
	if IsUnknown(value) {
		return
	}
	if msgs := validation.IsValidLabelValue(value); len(msgs) > 0 {
		ps.add(summary, validationDetail(value, msgs), path...)
	}
}

func (ps *Problems) require(of *Meta, attribute, value string) {
	ps.requireAt(value, of.field(attribute), Attr(attribute))
}

func (ps *Problems) requireAt(value, attribute string, path ...Step) {
	if value == "" {
		ps.add("Missing "+attribute, fmt.Sprintf("%s is empty or not set.", attribute), path...)
	}
}

// ValidateSelector returns the problems of a selector by Kubernetes' rules, at paths below path.
func ValidateSelector(s *Selector, path ...Step) (ps Problems) {
	ps.labels(s.MatchLabels, append(slices.Clone(path), Attr("match_labels"))...)
	for i, e := range s.MatchExpressions {
		at := append(slices.Clone(path), Attr("match_expressions"), Index(i))
		if IsUnknown(e.Key) || IsUnknown(string(e.Operator)) || slices.Contains(e.Values, Unknown) {
			continue
		}
		takesValues, known := operators[e.Operator]
		if !known {
			ps.add(
				"Invalid operator",
				fmt.Sprintf("%q is not one of In, NotIn, Exists, DoesNotExist.", e.Operator),
				append(at, Attr("operator"))...)
			continue
		}
		ps.labelKey(e.Key, append(slices.Clone(at), Attr("key"))...)
		for j, value := range e.Values {
			ps.labelValue(
				value,
				fmt.Sprintf("Invalid value of label %q", e.Key),
				append(slices.Clone(at), Attr("values"), Index(j))...)
		}
		switch {
		case takesValues && len(e.Values) == 0:
			ps.add("Invalid selector requirement",
				fmt.Sprintf("The operator %s on label %q needs values. Add them, or use Exists or DoesNotExist.",
					e.Operator, e.Key), append(at, Attr("values"))...)
		case !takesValues && len(e.Values) > 0:
			ps.add("Invalid selector requirement",
				fmt.Sprintf("The operator %s on label %q takes no values. Remove them, or use In or NotIn.",
					e.Operator, e.Key), append(at, Attr("values"))...)
		}
	}
	return ps
}

// operators lists the selector operators and whether they take values.
var operators = map[metav1.LabelSelectorOperator]bool{
	metav1.LabelSelectorOpIn:           true,
	metav1.LabelSelectorOpNotIn:        true,
	metav1.LabelSelectorOpExists:       false,
	metav1.LabelSelectorOpDoesNotExist: false,
}
