package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/parallel"
)

// APIVersion of the Kalypso objects that are written; any version of its group is read.
const APIVersion = apiGroup + "/v1alpha1"

const apiGroup = "scheduler.kalypso.io"

// OperatorKinds are the kinds of the Kalypso API that are no part of a fleet: they say where things lie, or the
// operator computes them.
var OperatorKinds = []Kind{"Environment", "BaseRepo", "GitOpsRepo", "Assignment", "AssignmentPackage", "DeploymentTarget"}

// ErrYAML is YAML that can't be read, or an object that is not of its kind's form.
var ErrYAML = errors.New("broken YAML")

// ParseYAML reads the Kalypso objects of a YAML text of one or several documents, among them Lists of objects.
// Documents of other kinds are passed over; their number is passed. All broken documents are reported; fields that no
// object of the kind has, and kinds that Kalypso has not, are warned of.
func ParseYAML(origin Origin, text string) (objects []Object, passed int, ps Problems) {
	return ParseYAMLWith(nil, origin, text)
}

// ParseYAMLWith is [ParseYAML] for which more kinds of the Kalypso API have readers.
func ParseYAMLWith(more map[Kind]Decoder, origin Origin, text string) (objects []Object, passed int, ps Problems) {
	docs := splitDocuments(text)
	for _, r := range parallel.Map(len(docs), func(n int) documentParser {
		r := documentParser{document: docs[n], at: origin, more: more}
		r.at.Document, r.at.Line = n+1, r.line
		data, err := yamlToJSON(r.text)
		if err != nil {
			r.addBroken(shiftLine(err.Error(), r.line))
		} else {
			r.read(data)
		}
		return r
	}) {
		objects, passed, ps = append(objects, r.objects...), passed+r.skipped, append(ps, r.problems...)
	}
	return objects, passed, ps
}

// documentParser is a document while it is read.
type documentParser struct {
	document
	at       Origin
	more     map[Kind]Decoder
	objects  []Object
	skipped  int
	problems Problems
}

func (r *documentParser) addBroken(reason string) {
	r.problems = append(r.problems, Problem{
		Origin:  r.at,
		Summary: "Broken YAML",
		Detail:  fmt.Sprintf("Document %d (line %d) can't be read: %s.", r.at.Document, r.at.Line, strings.TrimSuffix(reason, ".")),
		Err:     ErrYAML,
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
		r.skipped++ // its apiVersion, kind or items are not those of a Kubernetes object
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
		r.skip(kind, data)
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
		r.problems = append(r.problems, Problems{{
			Severity: Warning,
			Summary:  "Unknown fields",
			Detail: fmt.Sprintf("A %s has no such fields, and they are ignored:\n%s\n"+
				"Check their spelling, upper and lower case too, or remove them.", tm.Kind, IndentedList(unknown, len(unknown))),
		}}.forObject(o)...)
	}
}

// skip counts a document that is no object of a fleet, and warns where one was likely meant.
func (r *documentParser) skip(kind Kind, data []byte) {
	r.skipped++
	meant := kindInAnyCase(data)
	switch {
	case kind == "" && meant != "":
		r.warn("Kind in another case", fmt.Sprintf("Document %d (line %d) is ignored: Kubernetes reads the fields apiVersion "+
			"and kind in this case alone. Change their case, and it is a %s.", r.at.Document, r.at.Line, meant))
	case kind != "" && !slices.Contains(OperatorKinds, kind):
		r.warn("Unknown kind", fmt.Sprintf("Kalypso has no kind %q. Document %d (line %d) is passed over. Mind its spelling.",
			kind, r.at.Document, r.at.Line))
	}
}

func (r *documentParser) warn(summary, detail string) {
	r.problems = append(r.problems, Problem{Severity: Warning, Origin: r.at, Summary: summary, Detail: detail})
}
