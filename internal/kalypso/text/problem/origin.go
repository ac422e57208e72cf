package problem

import (
	"cmp"
	"fmt"
)

// Origin is the source of an object: the attribute and key of the configuration, and for YAML the document and line.
type Origin struct {
	Attribute string // such as "cluster_types"; empty if there is none
	Key       string // the key in that attribute
	Document  int    // number of the document in the YAML text, from 1; 0: not from YAML
	Line      int    // first line of that document, from 1
}

// String returns the origin as errors name it, or "" if it is unknown.
func (o Origin) String() string {
	switch {
	case o.Document > 0:
		return fmt.Sprintf("%s, document %d, line %d", o.Key, o.Document, o.Line)
	case o.Attribute != "" && o.Key == "":
		return o.Attribute
	case o.Attribute != "":
		return fmt.Sprintf("%s[%q]", o.Attribute, o.Key)
	}
	return o.Key
}

// Compare orders origins by attribute, key and document.
func (o Origin) Compare(other Origin) int {
	return cmp.Or(
		cmp.Compare(o.Attribute, other.Attribute),
		cmp.Compare(o.Key, other.Key),
		cmp.Compare(o.Document, other.Document),
	)
}
