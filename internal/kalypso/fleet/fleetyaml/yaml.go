// Package fleetyaml reads and writes Kalypso objects as YAML documents.
package fleetyaml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	kjson "sigs.k8s.io/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// APIVersion is the API version of written objects. Any version of its group is read.
const APIVersion = apiGroup + "/v1alpha1"

const apiGroup = "scheduler.kalypso.io"

// OperatorKinds lists the kinds of the Kalypso API that are not part of a fleet, because the operator computes the
// objects, or they only refer to repos.
var OperatorKinds = []fleet.Kind{
	"Environment",
	"BaseRepo",
	"GitOpsRepo",
	"Assignment",
	"AssignmentPackage",
	"DeploymentTarget",
}

// ErrYAML means that YAML can't be parsed, or that an object does not match its kind.
var ErrYAML = errors.New("invalid YAML")

// Parse reads the Kalypso objects of a YAML text with one or more documents, including Lists of objects. It skips
// documents of other kinds and returns their number. It reports all invalid documents, and warns of unknown fields
// and unknown Kalypso kinds. Once ctx is done, it stops with an error among the problems.
func Parse(
	ctx context.Context, origin problem.Origin, text string,
) (objects []fleet.Object, skipped int, ps problem.Problems) {
	return ParseWith(ctx, nil, origin, text)
}

// ParseWith is [Parse] with decoders for more kinds of the Kalypso API.
func ParseWith(
	ctx context.Context, more map[fleet.Kind]Decoder, origin problem.Origin, text string,
) (objects []fleet.Object, skipped int, ps problem.Problems) {
	docs := splitDocuments(text)
	for _, r := range parallel.Map(len(docs), func(n int) documentParser {
		r := documentParser{document: docs[n], at: origin, more: more}
		r.at.Document, r.at.Line = n+1, r.line
		if ctx.Err() != nil {
			return r
		}
		const advice = ". Separate objects with a line ---"
		if r.stray {
			r.addBroken("it follows an object in JSON, and is no object in JSON" + advice)
			return r
		}
		data, err := yamlToJSON(r.text)
		switch {
		case errors.Is(err, errAfterEnd):
			r.addBroken(shiftLine(err.Error(), r.line) + advice)
		case err != nil:
			r.addBroken(r.unreadable(err))
		default:
			r.read(data)
		}
		return r
	}) {
		objects, skipped, ps = append(objects, r.objects...), skipped+r.skipped, append(ps, r.problems...)
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, problem.Problems{fleet.StoppedProblem(err)}
	}
	return objects, skipped, ps
}

// documentParser parses one document.
type documentParser struct {
	document
	at       problem.Origin
	more     map[fleet.Kind]Decoder
	objects  []fleet.Object
	skipped  int
	problems problem.Problems
}

func (r *documentParser) addBroken(reason string) {
	r.problems = append(r.problems, problem.Problem{
		Origin:  r.at,
		Summary: "Invalid YAML",
		Detail: fmt.Sprintf(
			"Document %d (line %d) can't be read: %s.",
			r.at.Document,
			r.at.Line,
			strings.TrimSuffix(reason, "."),
		),
		Err: ErrYAML,
	})
}

func (r *documentParser) read(data []byte) {
	var tm typeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &tm); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field == "" {
			r.addBroken("it is " + jsonKind(mismatch.Value) + ", not an object")
			return
		}
		r.skipped++ // its apiVersion, kind or items have the wrong type for a Kubernetes object
		return
	}
	if tm.APIVersion == "v1" && tm.Kind == "List" {
		for _, item := range tm.Items {
			r.read(item)
		}
		return
	}
	kind := kindOf(tm)
	read := decoders[kind]
	if read == nil {
		read = r.more[kind]
	}
	if read == nil {
		r.skip(tm, kind, data)
		return
	}
	o, unknown, err := read(data)
	if err != nil {
		r.addBroken(fmt.Sprintf("%s %q: %s", tm.Kind, o.Metadata().Name, r.describe(err, data)))
		return
	}
	o.Metadata().Origin = r.at
	r.objects = append(r.objects, o)
	if len(unknown) > 0 {
		r.problems = append(r.problems, fleet.ProblemOf(o, problem.Problem{
			Severity: problem.Warning,
			Summary:  "Unknown fields",
			Detail: fmt.Sprintf("A %s does not have these fields, so they are ignored:\n%s\n"+
				"Check the spelling, including upper and lower case, or remove them.",
				tm.Kind, problem.IndentedList(unknown, len(unknown))),
		}))
	}
}

// skip counts a document that is not an object of a fleet, and warns if it was probably meant to be one.
func (r *documentParser) skip(tm typeMeta, kind fleet.Kind, data []byte) {
	r.skipped++
	meant := kindInAnyCase(data)
	switch {
	case kind == "" && meant != "":
		r.warn("Wrong case of kind", fmt.Sprintf("Document %d (line %d) is skipped: the fields apiVersion and kind "+
			"must be written in exactly this case. Correct the case to make it a %s.", r.at.Document, r.at.Line, meant))
	case kind != "" && !slices.Contains(OperatorKinds, kind):
		r.warn("Unknown kind", fmt.Sprintf("Kalypso has no kind %q, so document %d (line %d) is skipped. Check the spelling.",
			kind, r.at.Document, r.at.Line))
	case kind == "" && isMisspelledGroup(tm):
		r.warn("Unknown apiVersion", fmt.Sprintf("Document %d (line %d) is skipped: Kalypso has no apiVersion %q. If it is "+
			"a Kalypso %s, write apiVersion: %s.", r.at.Document, r.at.Line, printable.Line(tm.APIVersion), tm.Kind, APIVersion))
	}
}

// isMisspelledGroup reports whether an object of another API group was probably meant to be Kalypso's: only Kalypso has
// its kind, or Kalypso has its kind and the group is similar to Kalypso's group.
func isMisspelledGroup(tm typeMeta) bool {
	kind := fleet.Kind(tm.Kind)
	switch kind {
	case fleet.KindClusterType, fleet.KindSchedulingPolicy, fleet.KindWorkloadRegistration, fleet.KindConfigSchema,
		fleet.KindSecret:
		return true
	case fleet.KindConfig:
		return false
	}
	if decoders[kind] == nil && !slices.Contains(OperatorKinds, kind) {
		return false
	}
	group, _, _ := strings.Cut(tm.APIVersion, "/")
	const typos = 4
	return strings.Contains(group, "kalypso") || len(group) <= len(apiGroup)+typos &&
		levenshtein.ComputeDistance(group, apiGroup) <= typos
}

func (r *documentParser) warn(summary, detail string) {
	r.problems = append(r.problems, problem.Problem{
		Severity: problem.Warning, Origin: r.at, Summary: summary, Detail: detail,
	})
}
