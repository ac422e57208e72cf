package render

import "reflect"

// price is what a function costs. The zero price is that of one that reads its arguments, lists and maps to their last
// part, once, and gives at most a few times as much.
type price struct {
	shallow bool  // it reads the first level of lists and maps alone
	part    bool  // it gives an argument, or a part of one: nothing new
	weight  int64 // for each byte read; 0: 1
	indent  int64 // bytes before a line for each level that it is nested
	// work is what it takes besides. gives is about how many bytes it gives at most, where that can be many times what it reads.
	work  func(args []reflect.Value, read int64) (int64, error)
	gives func(args []reflect.Value, read, most int64) int64
}

var (
	lookup   = price{shallow: true, part: true}
	rebuild  = price{shallow: true}
	matching = price{work: patternWork}
	version  = price{work: versionWork, weight: 64}
	pairs    = price{work: pairsWork}
)

// prices are those of functions that are not as the zero price says.
var prices = map[string]price{
	"all": lookup, "any": lookup, "coalesce": lookup, "default": lookup, "dig": lookup, "empty": lookup, "first": lookup, "get": lookup,
	"hasKey": lookup, "kindIs": lookup, "kindOf": lookup, "last": lookup, "mustFirst": lookup, "mustLast": lookup, "set": lookup,
	"ternary": lookup, "typeIs": lookup, "typeIsLike": lookup, "typeOf": lookup, "unset": lookup,

	"append": rebuild, "chunk": rebuild, "compact": rebuild, "concat": rebuild, "dict": rebuild, "initial": rebuild, "keys": rebuild,
	"list": rebuild, "mustAppend": rebuild, "mustChunk": rebuild, "mustCompact": rebuild, "mustInitial": rebuild, "mustPrepend": rebuild,
	"mustPush": rebuild, "mustRest": rebuild, "mustReverse": rebuild, "mustSlice": rebuild, "omit": rebuild, "pick": rebuild,
	"pluck": rebuild, "prepend": rebuild, "push": rebuild, "rest": rebuild, "reverse": rebuild, "slice": rebuild, "tuple": rebuild,
	"values": rebuild,

	"regexFind": matching, "regexFindAll": matching, "regexMatch": matching, "regexSplit": matching, "mustRegexFind": matching,
	"mustRegexFindAll": matching, "mustRegexMatch": matching, "mustRegexSplit": matching,
	"regexReplaceAll":            {work: patternWork, gives: sizeOfReplaceAll},
	"regexReplaceAllLiteral":     {work: patternWork, gives: sizeOfReplaceAll},
	"mustRegexReplaceAll":        {work: patternWork, gives: sizeOfReplaceAll},
	"mustRegexReplaceAllLiteral": {work: patternWork, gives: sizeOfReplaceAll},

	"semver": version, "semverCompare": version,
	"has": pairs, "mustHas": pairs, "uniq": pairs, "mustUniq": pairs, "without": pairs, "mustWithout": pairs,

	"deepCopy": {weight: 4}, "mustDeepCopy": {weight: 4}, "deepEqual": {weight: 4}, "fromJson": {weight: 2}, "mustFromJson": {weight: 2},
	"hash": {weight: 2}, "merge": {weight: 4}, "mergeOverwrite": {weight: 4}, "mustMerge": {weight: 4}, "mustMergeOverwrite": {weight: 4},
	"sortAlpha": {weight: 4}, "stringify": {weight: 16, indent: 4}, "toYaml": {weight: 16, indent: 4},
	"toPrettyJson": {weight: 2, indent: 2}, "mustToPrettyJson": {weight: 2, indent: 2},

	"indent": {gives: sizeOfIndent}, "nindent": {gives: sizeOfIndent}, "join": {gives: sizeOfJoin}, "printf": {gives: sizeOfPrintf},
	"repeat": {gives: sizeOfRepeat}, "replace": {gives: sizeOfReplace}, "split": {gives: sizeOfSplit}, "splitn": {gives: sizeOfSplit},
	"until": {gives: sizeOfUntil}, "untilStep": {gives: sizeOfUntilStep}, "seq": {gives: sizeOfSeq},
	"wrapWith": {gives: sizeOfWrapWith},

	// It fills 32 MiB, slowly on purpose.
	"derivePassword": {work: func([]reflect.Value, int64) (int64, error) { return 16 << 20, nil }},
}

// pairsWork is what it takes to compare each element of a list with others.
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

// versionWork bounds versions and conditions on them, whose methods are not counted.
func versionWork(_ []reflect.Value, read int64) (int64, error) {
	const most = 1024
	if read > most {
		return 0, boundError("a version, or a condition on one, has %d bytes; at most %d are allowed", read, most)
	}
	return 0, nil
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }
