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
	c := checkerOf(nil).attr("environment")
	if !unknown.Is(name) {
		c.refuse("Invalid environment name", name, validation.IsDNS1123Label(name))
	}
	return *c.found
}

// Validate implements [Object].
func (ct *ClusterType) Validate() problem.Problems {
	c := checkerOf(ct)
	c.meta()
	c.require("reconciler", ct.Reconciler)
	c.require("namespace_service", ct.NamespaceService)
	ct.checkTaints(c)
	return c.problems()
}

var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Validate implements [Object]. The package render checks whether the manifests parse.
func (t *Template) Validate() problem.Problems {
	c := checkerOf(t)
	c.meta()
	enum := func(attribute, value string, allowed []string) {
		if unknown.Is(value) || slices.Contains(allowed, value) {
			return
		}
		detail := fmt.Sprintf("%q is not one of %s.", value, strings.Join(allowed, ", "))
		if t.Origin.Document > 0 {
			c.attr(attribute).warn("Unknown "+YAMLName(attribute), detail)
		} else {
			c.attr(attribute).add("Invalid "+attribute, detail)
		}
	}
	enum("type", t.Type, TemplateTypes)
	if t.ContentType != "" {
		enum("content_type", t.ContentType, ContentTypes)
	}
	if t.FileName != "" && !unknown.Is(t.FileName) && !fileName.MatchString(t.FileName) {
		c.attr("file_name").add("Invalid file name", fmt.Sprintf("%q is not the name of a file in the deployment target's "+
			"folder. It begins with a letter or digit, and contains only letters, digits, \".\", \"_\" and \"-\", at most "+
			"100.", t.FileName))
	}
	return c.problems()
}

// Validate implements [Object].
func (c *Config) Validate() problem.Problems {
	check := checkerOf(c)
	check.meta()
	data := check.attr("data")
	for _, k := range slices.Sorted(maps.Keys(c.Data)) {
		if !unknown.Is(k) {
			data.key(k).refuse("Invalid config key", k, validation.IsConfigMapKey(k))
		}
	}
	return check.problems()
}

// Validate implements [Object]. The package configure checks whether the schema compiles.
func (s *ConfigSchema) Validate() problem.Problems {
	c := checkerOf(s)
	c.meta()
	c.require("schema", s.Schema)
	return c.problems()
}

// Validate implements [Object].
func (p *SchedulingPolicy) Validate() problem.Problems {
	c := checkerOf(p)
	c.meta()
	ofTargets := c.attr("deployment_target_selector")
	if p.Workspace != "" {
		ofTargets.attr("workspace").labelValue(p.Workspace, "Invalid workspace")
	}
	ofTargets.selector(&p.DeploymentTargets)
	c.attr("cluster_type_selector").selector(&p.ClusterTypes)
	p.checkPlacement(c.attr("placement"))
	return c.problems()
}

// Validate implements [Object].
func (w *Workload) Validate() problem.Problems {
	c := checkerOf(w)
	c.attr("name").name(w.Name, w.Name, "Invalid name")
	c.ofTeam().attr("labels").labels(w.Labels)
	prefix := w.Name + "-"
	if len(validation.IsDNS1123Subdomain(w.Name)) > 0 {
		prefix = "" // so that the fault is reported once, not for each target
	}
	seen := map[string]bool{}
	for i, t := range w.Targets {
		at := c.attr("deployment_targets").index(i)
		at.attr("name").name(prefix+t.Name, t.Name, "Invalid deployment target name")
		team := at.ofTeam()
		team.attr("labels").labels(t.Labels)
		team.attr("manifests").teamTexts(t.Name, t.Manifests)
		if t.Environment == "" {
			team.attr("environment").add("Missing environment",
				fmt.Sprintf("Deployment target %q has no environment, so it would never be rendered.", t.Name))
		}
		// A duplicate name is one error in each environment.
		id := t.Environment + "/" + t.Name
		if seen[id] && !unknown.Is(t.Name) && !unknown.Is(t.Environment) {
			at.attr("name").add("Duplicate deployment target",
				fmt.Sprintf("The workload has two targets named %q in environment %q. Rename or remove one of them.",
					t.Name, t.Environment))
		}
		seen[id] = true
	}
	w.checkRequirements(c.ofTeam())
	return c.problems()
}

// Validate implements [Object].
func (r *WorkloadRegistration) Validate() problem.Problems {
	c := checkerOf(r)
	c.meta()
	c.attr("workload").require("repo", r.Repo)
	c.attr("workload").require("branch", r.Branch)
	if r.Workspace != "" {
		c.attr("workspace").labelValue(r.Workspace, "Invalid workspace")
	}
	return c.problems()
}

func (c checker) meta() {
	m := c.object.Metadata()
	c.attr("name").name(m.Name, m.Name, "Invalid name")
	c.attr("labels").labels(m.Labels)
}

// name checks that full is a DNS-1123 subdomain. shown is the part of full that the user wrote, for the error.
func (c checker) name(full, shown, summary string) {
	if shown == "" {
		c.add("Missing name", "The name is empty or not set.")
		return
	}
	if unknown.Is(shown) || strings.Contains(full, unknown.Text) {
		return
	}
	msgs := validation.IsDNS1123Subdomain(full)
	if strings.HasPrefix(shown, "-") || strings.HasPrefix(shown, ".") {
		msgs = append(msgs, "it must begin with a letter or a digit")
	}
	c.refuse(summary, shown, msgs)
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

func (c checker) labels(set map[string]string) {
	var odd []string
	for k, v := range set {
		if !isSimpleLabel(k) || !isSimpleLabel(v) {
			odd = append(odd, k)
		}
	}
	slices.Sort(odd)
	for _, k := range odd {
		if !unknown.Is(k) {
			c.key(k).labelKey(k)
			c.key(k).labelValue(set[k], fmt.Sprintf("Invalid value of label %q", k))
		}
	}
}

// isSimpleLabel reports whether a text is certainly valid as the key and as the value of a label. Most labels are, so
// the slow regular expressions of Kubernetes are seldom needed.
func isSimpleLabel(s string) bool {
	const maxLength = 63 // characters, as Kubernetes allows
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
		case (c == '-' || c == '_' || c == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxLength
}

func (c checker) labelKey(key string) {
	c.refuse("Invalid label key", key, validation.IsQualifiedName(key))
}

func (c checker) labelValue(value, summary string) {
	if !unknown.Is(value) {
		c.refuse(summary, value, validation.IsValidLabelValue(value))
	}
}

// require reports an attribute that is not set.
func (c checker) require(attribute, value string) {
	if name := c.object.Metadata().field(attribute); value == "" {
		c.attr(attribute).add("Missing "+name, fmt.Sprintf("%s is empty or not set.", name))
	}
}

// ValidateSelector returns the problems of a selector by Kubernetes' rules, at paths below path.
func ValidateSelector(s *Selector, path ...problem.Step) problem.Problems {
	c := checkerOf(nil).at(path...)
	c.selector(s)
	return *c.found
}

func (c checker) selector(s *Selector) {
	c.attr("match_labels").labels(s.MatchLabels)
	for i, e := range s.MatchExpressions {
		at := c.attr("match_expressions").index(i)
		if unknown.Is(e.Key) || unknown.Is(string(e.Operator)) || slices.Contains(e.Values, unknown.Text) {
			continue
		}
		takesValues, known := operators[e.Operator]
		if !known {
			at.attr("operator").add("Invalid operator",
				fmt.Sprintf("%q is not one of In, NotIn, Exists, DoesNotExist.", e.Operator))
			continue
		}
		at.attr("key").labelKey(e.Key)
		values := at.attr("values")
		for j, value := range e.Values {
			values.index(j).labelValue(value, fmt.Sprintf("Invalid value of label %q", e.Key))
		}
		switch {
		case takesValues && len(e.Values) == 0:
			values.add("Invalid selector requirement", fmt.Sprintf(
				"The operator %s on label %q needs values. Add them, or use Exists or DoesNotExist.", e.Operator, e.Key))
		case !takesValues && len(e.Values) > 0:
			values.add("Invalid selector requirement", fmt.Sprintf(
				"The operator %s on label %q takes no values. Remove them, or use In or NotIn.", e.Operator, e.Key))
		}
	}
}

// operators lists the selector operators and whether they take values.
var operators = map[metav1.LabelSelectorOperator]bool{
	metav1.LabelSelectorOpIn:           true,
	metav1.LabelSelectorOpNotIn:        true,
	metav1.LabelSelectorOpExists:       false,
	metav1.LabelSelectorOpDoesNotExist: false,
}
