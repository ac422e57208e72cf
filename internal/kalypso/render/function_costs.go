package render

import (
	"reflect"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/pattern"
)

// functionCost is the cost model of a function. The zero value describes a function that reads its arguments once,
// including all nested parts, and returns at most a few times as much.
type functionCost struct {
	shallow         bool  // it reads only the first level of lists and maps
	returnsArgument bool  // it returns an argument or a part of one
	weight          int64 // cost of each byte read; 0 means 1
	indent          int64 // bytes of indentation for each level
	// work returns additional work. resultSize estimates the maximum size of the result, for functions that can
	// return much more than they read.
	work       func(args []reflect.Value, read int64) (int64, error)
	resultSize func(args []reflect.Value, read, most int64) int64
}

var (
	lookup   = functionCost{shallow: true, returnsArgument: true}
	rebuild  = functionCost{shallow: true}
	matching = functionCost{work: patternWork}
	// The texts of all matches, or between them, take longer than the matching.
	splitting = functionCost{work: patternWork, weight: 16}
	version   = functionCost{work: versionWork, weight: 64}
	pairs     = functionCost{work: pairsWork}
)

// functionCosts lists the functions that differ from the zero [functionCost].
var functionCosts = map[string]functionCost{
	"all":        lookup,
	"any":        lookup,
	"coalesce":   lookup,
	"default":    lookup,
	"dig":        lookup,
	"empty":      lookup,
	"first":      lookup,
	"get":        lookup,
	"hasKey":     lookup,
	"kindIs":     lookup,
	"kindOf":     lookup,
	"last":       lookup,
	"mustFirst":  lookup,
	"mustLast":   lookup,
	"set":        lookup,
	"ternary":    lookup,
	"typeIs":     lookup,
	"typeIsLike": lookup,
	"typeOf":     lookup,
	"unset":      lookup,

	"append":      rebuild,
	"chunk":       rebuild,
	"compact":     rebuild,
	"concat":      rebuild,
	"dict":        rebuild,
	"initial":     rebuild,
	"keys":        rebuild,
	"list":        rebuild,
	"mustAppend":  rebuild,
	"mustChunk":   rebuild,
	"mustCompact": rebuild,
	"mustInitial": rebuild,
	"mustPrepend": rebuild,
	"mustPush":    rebuild,
	"mustRest":    rebuild,
	"mustReverse": rebuild,
	"mustSlice":   rebuild,
	"omit":        rebuild,
	"pick":        rebuild,
	"pluck":       rebuild,
	"prepend":     rebuild,
	"push":        rebuild,
	"rest":        rebuild,
	"reverse":     rebuild,
	"slice":       rebuild,
	"tuple":       rebuild,
	"values":      rebuild,

	"regexFind":                  matching,
	"regexFindAll":               splitting,
	"regexMatch":                 matching,
	"regexSplit":                 splitting,
	"mustRegexFind":              matching,
	"mustRegexFindAll":           splitting,
	"mustRegexMatch":             matching,
	"mustRegexSplit":             splitting,
	"regexReplaceAll":            {work: patternWork, resultSize: sizeOfReplaceAll},
	"regexReplaceAllLiteral":     {work: patternWork, resultSize: sizeOfReplaceAll},
	"mustRegexReplaceAll":        {work: patternWork, resultSize: sizeOfReplaceAll},
	"mustRegexReplaceAllLiteral": {work: patternWork, resultSize: sizeOfReplaceAll},

	"semver":        version,
	"semverCompare": version,
	"has":           pairs,
	"mustHas":       pairs,
	"uniq":          pairs,
	"mustUniq":      pairs,
	"without":       pairs,
	"mustWithout":   pairs,

	"deepCopy":           {weight: 8},
	"mustDeepCopy":       {weight: 8},
	"deepEqual":          {weight: 4},
	"fromJson":           {weight: 2},
	"mustFromJson":       {weight: 2},
	"hash":               {weight: 2},
	"merge":              {weight: 4},
	"mergeOverwrite":     {weight: 4},
	"mustMerge":          {weight: 4},
	"mustMergeOverwrite": {weight: 4},
	"sortAlpha":          {weight: 4},
	"stringify":          {weight: 16, indent: 4},
	"externalSecretSpec": {weight: 32, indent: 4},
	"toYaml":             {weight: 16, indent: 4},
	"toPrettyJson":       {weight: 2, indent: 2},
	"mustToPrettyJson":   {weight: 2, indent: 2},

	"indent":    {resultSize: sizeOfIndent},
	"nindent":   {resultSize: sizeOfIndent},
	"join":      {resultSize: sizeOfJoin},
	"printf":    {resultSize: sizeOfPrintf},
	"repeat":    {resultSize: sizeOfRepeat},
	"replace":   {resultSize: sizeOfReplace},
	"split":     {resultSize: sizeOfSplit},
	"splitn":    {resultSize: sizeOfSplit},
	"until":     {resultSize: sizeOfUntil},
	"untilStep": {resultSize: sizeOfUntilStep},
	"seq":       {resultSize: sizeOfSeq},
	"wrapWith":  {resultSize: sizeOfWrapWith},

	// It fills 32 MiB, and is slow on purpose.
	"derivePassword": {work: func([]reflect.Value, int64) (int64, error) { return 16 << 20, nil }},
}

// pairsWork returns the cost of comparing each element of a list with others.
func pairsWork(args []reflect.Value, read int64) (int64, error) {
	var most int64
	for _, arg := range args {
		if isList(arg) {
			most = max(most, int64(arg.Len()))
		}
	}
	others := int64(len(args) - 1)
	if len(args) == 1 { // with each other
		others = most / 2
	}
	return times(most, 8*others) + times(read/256, others), nil
}

// versionWork limits the length of versions and version constraints. Their methods are not metered.
func versionWork(_ []reflect.Value, read int64) (int64, error) {
	const most = 1024
	if read > most {
		return 0, boundError("a version or version constraint has %d bytes; at most %d are allowed", read, most)
	}
	return 0, nil
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

// patternWork returns the cost of compiling and matching a regular expression.
func patternWork(args []reflect.Value, _ int64) (int64, error) {
	cost, err := pattern.Measure(args[0].String())
	if err != nil {
		return 0, boundError("%v", err)
	}
	return cost.Compile + times(cost.Match, int64(args[1].Len())), nil
}
