package engine_test

import "strings"

// mega sets $t to a text of a million bytes.
const mega = `{{ $t := repeat 1000000 "a" }}`

// hostileFunctions returns cases of functions that would return or read too much, or need too much time or memory.
func hostileFunctions() (all []hostileCase) {
	all = append(all, fails(size, map[string]string{
		"repeat":                       `{{ repeat 2000000000 "x" }}`,
		"repeat, the largest":          `{{ repeat 9223372036854775807 "xyz" }}`,
		"indent":                       `{{ indent 2000000000 "x" }}`,
		"indent of many lines":         `{{ indent 100000 (repeat 100000 "\n") }}`,
		"nindent":                      `{{ nindent 2000000000 "x" }}`,
		"replace of an empty text":     `{{ replace "" (repeat 10000 "y") (repeat 10000 "x") }}`,
		"replace of each character":    `{{ replace "x" (repeat 10000 "y") (repeat 10000 "x") }}`,
		"replace that doubles":         `{{ $x := "xx" }}{{ range 60 }}{{ $x = replace "x" "xx" $x }}{{ end }}`,
		"join":                         `{{ join (repeat 100000 "x") (until 1000) }}`,
		"wrapWith":                     `{{ wrapWith 1 (repeat 10000 "y") (repeat 10000 "x") }}`,
		"wrapWith a negative width":    `{{ wrapWith -5 (repeat 10000 "y") (repeat 10000 "x") }}`,
		"regexReplaceAll":              `{{ regexReplaceAll "" (repeat 10000 "x") (repeat 10000 "y") }}`,
		"regexReplaceAll with groups":  `{{ regexReplaceAll "(.*)" (repeat 10000 "x") (repeat 10000 "$1") }}`,
		"regexReplaceAllLiteral":       `{{ regexReplaceAllLiteral "x" (repeat 10000 "x") (repeat 10000 "y") }}`,
		"mustRegexReplaceAll":          `{{ mustRegexReplaceAll "x" (repeat 10000 "x") (repeat 10000 "y") }}`,
		"b64enc":                       `{{ $x := "x" }}{{ range 100 }}{{ $x = b64enc $x }}{{ end }}`,
		"b32enc":                       `{{ $x := "x" }}{{ range 100 }}{{ $x = b32enc $x }}{{ end }}`,
		"squote":                       `{{ $x := "x" }}{{ range 60 }}{{ $x = squote $x $x }}{{ end }}`,
		"cat":                          `{{ $x := "x" }}{{ range 60 }}{{ $x = cat $x $x }}{{ end }}`,
		"toJson":                       `{{ $x := "<" }}{{ range 60 }}{{ $x = toJson $x }}{{ end }}`,
		"html":                         `{{ $x := "&" }}{{ range 60 }}{{ $x = html $x $x }}{{ end }}`,
		"js":                           `{{ $x := "'" }}{{ range 60 }}{{ $x = js $x $x }}{{ end }}`,
		"urlquery":                     `{{ $x := "%" }}{{ range 60 }}{{ $x = urlquery $x $x }}{{ end }}`,
		"println":                      `{{ $x := "x" }}{{ range 60 }}{{ $x = println $x $x }}{{ end }}`,
		"regexQuoteMeta":               `{{ $x := "." }}{{ range 60 }}{{ $x = regexQuoteMeta $x }}{{ end }}`,
		"printf with a width":          `{{ printf "%999999d%999999d" 1 2 }}`,
		"printf with a precision":      `{{ printf "%.999999f%.999999f" 1.0 2.0 }}`,
		"printf with a width given":    `{{ printf "%*d%*d" 999999 1 999999 2 }}`,
		"printf of a text three times": mega + `{{ printf "%[1]s%[1]s%[1]s" $t }}`,
		"printf of many widths":        `{{ $f := repeat 10000 "%99999d" }}{{ printf $f 1 }}`,
		"JSON in 90 levels": `{{ $l := until 20000 }}{{ $d := $l }}{{ range 90 }}{{ $d = list $d }}{{ end }}{{ ` +
			`toPrettyJson $d }}`,
		"YAML in 90 levels": `{{ $l := until 20000 }}{{ $d := $l }}{{ range 90 }}{{ $d = list $d }}{{ end }}{{ ` +
			`toYaml $d }}`,
	})...)
	all = append(all, fails("it would return more than 1000000 numbers", map[string]string{
		"until":            `{{ until 2000000000 }}`,
		"until below zero": `{{ until -2000000000 }}`,
		"untilStep":        `{{ untilStep 0 9223372036854775807 1 }}`,
		"seq":              `{{ seq 2000000000 }}`,
		"seq down":         `{{ seq 2000000000 1 }}`,
		"seq with steps":   `{{ seq 0 1 2000000000 }}`,
	})...)
	all = append(all, fails(nested, onEach(self, "itself", readers))...)
	all = append(all, fails(nested, onEach(shared, "shared", readers))...)
	all = append(all, fails(nested, map[string]string{
		"set of itself in a list":       `{{ $d := dict }}{{ $_ := set $d "a" (list $d) }}`,
		"set of the data":               `{{ $_ := set .ConfigData "a" .ConfigData }}`,
		"set of a map in its own child": `{{ $d := dict "m" (dict) }}{{ $_ := set $d.m "up" $d }}`,
		"merge of itself":               `{{ $d := dict "x" 1 }}{{ $_ := merge $d (dict "a" $d) }}{{ $d }}`,
		"merge of a part of itself": `{{ $p := dict "x" 1 }}{{ $d := dict "p" $p }}{{ $_ := merge $d (dict "p" (dict "q" ` +
			`$p)) }}{{ $d }}`,
		"mergeOverwrite of itself": `{{ $d := dict "x" 1 }}{{ $_ := mergeOverwrite $d (dict "a" $d) }}{{ $d }}`,
		"a list of 200 levels":     `{{ $d := list 1 }}{{ range 200 }}{{ $d = list $d }}{{ end }}{{ $d | toYaml }}`,
		"JSON of 5000 levels":      `{{ $d := fromJson (print (repeat 5000 "[") (repeat 5000 "]")) }}{{ $d | toJson }}`,
		"a text in 30 levels":      `{{ $d := repeat 500000 "x" }}{{ $d = list $d $d $d }}{{ $d }}`,
		"a map of levels": `{{ $d := dict "x" 1 }}{{ range 40 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ ` +
			`toYaml $d }}`,
		"a set in a list in a loop": `{{ $d := dict "a" 1 }}{{ range 40 }}{{ $_ := set $d "a" (list $d.a $d.a) }}` +
			`{{ end }}{{ $d }}`,
		"a merge that shares": `{{ $d := dict "x" 1 }}{{ range 40 }}{{ $d = merge (dict) (dict "a" $d "b" $d) }}{{ ` +
			`end }}{{ $d }}`,
		"text of a value that shares": shared + `{{ range 3 }}{{ $d = list (toString $d) }}{{ end }}`,
	})...)
	// The machine decides which bound is met first.
	all = append(all, fails("Check its loops", map[string]string{
		"fromJson in a loop": `{{ $j := print "[" (repeat 300000 "1,") "1]" }}{{ range 10000 }}{{ $_ := fromJson $j ` +
			`}}{{ end }}`,
	})...)
	all = append(all, fails(tooSlow, map[string]string{
		"without": `{{ $x := splitList "," (repeat 200000 "a,") }}{{ range 100 }}{{ $_ := without $x "b" ` +
			`"c" "d" }}{{ end }}`,
		"has in a loop": `{{ $x := splitList "," (repeat 200000 "a,") }}{{ range 10000 }}{{ $_ := has "b" $x }}{{ ` +
			`end }}`,
		"patterns in a loop":  `{{ range 900000 }}{{ $_ := regexMatch "^([a-z0-9]{1,63}[.-]){1,15}$" "x" }}{{ end }}`,
		"classes in a loop":   `{{ $p := repeat 200 "\\pL" }}{{ range 10000 }}{{ $_ := regexMatch $p "x" }}{{ end }}`,
		"regexFindAll":        mega + `{{ range 1000 }}{{ $_ := regexFindAll "" $t -1 }}{{ end }}`,
		"regexSplit":          mega + `{{ range 1000 }}{{ $_ := regexSplit "a" $t -1 }}{{ end }}`,
		"derivePassword":      `{{ range 1000 }}{{ $_ := derivePassword 1 "long" "p" "u" "s" }}{{ end }}`,
		"sha512sum in a loop": mega + `{{ range 900000 }}{{ $_ := sha512sum $t }}{{ end }}`,
		"toYaml in a loop":    `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := toYaml $d }}{{ end }}`,
		"stringify in a loop": `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := stringify $d }}{{ end }}`,
		"hash in a loop":      `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := hash $d }}{{ end }}`,
		"deepCopy in a loop":  `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := deepCopy $d }}{{ end }}`,
		"merge in a loop":     `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := merge (dict) $d }}{{ end }}`,
		"semver in a loop": `{{ range 900000 }}{{ $_ := semverCompare ">=1.0.0 <2.0.0 || >=3.0.0 <4.0.0 || >=5.0.0" ` +
			`"6.0.0-alpha.1" }}{{ end }}`,
		"camelcase in a loop": mega + `{{ range 10000 }}{{ $_ := camelcase $t }}{{ end }}`,
		"contains in a loop":  mega + `{{ range 900000 }}{{ $_ := contains "b" $t }}{{ end }}`,
		"printing in a loop":  `{{ $d := dict "a" (until 5000) }}{{ range 10000 }}{{ $_ := print $d }}{{ end }}`,
	})...)
	all = append(all, fails(tooMuch, map[string]string{
		"split":                mega + `{{ $s := split "" $t }}`,
		"splitn":               mega + `{{ $s := splitn "a" 1000000 $t }}`,
		"concat that doubles":  `{{ $x := until 2 }}{{ range 60 }}{{ $x = concat $x $x }}{{ end }}`,
		"append in a loop":     `{{ $x := list }}{{ range 900000 }}{{ $x = append $x 1 }}{{ end }}`,
		"prepend in a loop":    `{{ $x := list }}{{ range 900000 }}{{ $x = prepend $x 1 }}{{ end }}`,
		"a list of long texts": `{{ $x := list }}{{ range 5000 }}{{ $x = append $x (repeat 1000000 "x") }}{{ end }}`,
		"sortAlpha in a loop": `{{ $x := splitList "," (repeat 200000 "a,") }}{{ range 10000 }}{{ $_ := sortAlpha $x ` +
			`}}{{ end }}`,
		"reverse in a loop": `{{ $x := splitList "," (repeat 200000 "a,") }}{{ range 10000 }}{{ $_ := reverse $x }}{{ ` +
			`end }}`,
		"chunk in a loop": `{{ $x := splitList "," (repeat 200000 "a,") }}{{ range 10000 }}{{ $_ := chunk 1 $x }}{{ ` +
			`end }}`,
		"title in a loop": mega + `{{ range 10000 }}{{ $_ := title $t }}{{ end }}`,
		"trim in a loop":  mega + `{{ range 900000 }}{{ $_ := trimAll "b" $t }}{{ end }}`,
	})...)
	all = append(all, fails(tooLong, map[string]string{
		"uniq":                      `{{ $x := splitList "," (repeat 200000 "a,") }}{{ uniq $x | len }}`,
		"a pattern that backtracks": mega + `{{ regexMatch "(a?){500}$x" $t }}`,
	})...)
	all = append(all, fails("at most 10000 are allowed", map[string]string{
		"a long pattern":         mega + `{{ regexMatch $t "x" }}`,
		"a pattern that repeats": `{{ regexMatch (repeat 20 "(abcdef){1000}") "x" }}`,
	})...)
	all = append(all, fails("", map[string]string{
		"untilStep past the end":     `{{ untilStep 0 9223372036854775807 9223372036854775806 | len }}{{ fail "here" }}`,
		"chunks of nothing":          `{{ chunk 0 (list 1 2) }}`,
		"a division by zero":         `{{ div 1 0 }}`,
		"a modulo of zero":           `{{ mod 1 0 }}`,
		"a substring past the end":   `{{ substr 5 2 "abc" }}`,
		"a broken pattern":           `{{ regexFind "(" "x" }}`,
		"an index past the end":      `{{ index (list 1) 5 }}`,
		"a slice past the end":       `{{ slice "abc" 2 9 }}`,
		"dig into text":              `{{ dig "a" "b" "d" (dict "a" "x") }}`,
		"a key that is not a string": `{{ get (dict "a" 1) 1 }}`,
		"a call of nothing":          `{{ call .Labels.none }}`,
		"a long version":             mega + `{{ semver $t }}`,
		"a long condition":           mega + `{{ semverCompare $t "1.0.0" }}`,
		"a long reason":              mega + `{{ fail $t }}`,
	})...)
	all = append(all, renders("x: ", map[string]string{
		"seq at the end of numbers": `x: {{ seq 9223372036854775806 9223372036854775807 }}`,
		"functions of a long text": mega + `x: {{ len (title $t) }} {{ len (swapcase $t) }} {{ len (snakecase $t) }} {{ ` +
			`len (camelcase $t) }} {{ len (kebabcase $t) }} {{ len (initials $t) }} {{ len (wrap 1 $t) }} {{ len (nospace $t) ` +
			`}} {{ len (sha256sum $t) }}`,
		"a password":          `x: {{ derivePassword 1 "long" "p" "u" "s" }}`,
		"an ordinary uniq":    `x: {{ uniq (splitList "," (repeat 1000 "a,b,")) }}`,
		"an ordinary pattern": `x: {{ regexReplaceAll "[^a-z0-9]+" (repeat 1000 "a_B") "-" | len }}`,
		"a part set twice": `{{ $p := dict "a" 1 }}{{ $d := dict }}{{ $_ := set $d "p" $p }}{{ $_ := set $d "q" ` +
			`$p }}x: {{ toJson $d }}`,
		"round to many places": `x: {{ round 1.5 1000000000 }}{{ add 9223372036854775807 1 }}`,
	})...)
	return all
}

// readers are actions that read the whole value of $d, by the name of their function.
var readers = map[string]string{
	"print":        `{{ print $d }}`,
	"an action":    `{{ $d }}`,
	"toYaml":       `{{ toYaml $d }}`,
	"toJson":       `{{ toJson $d }}`,
	"toPrettyJson": `{{ toPrettyJson $d }}`,
	"toRawJson":    `{{ toRawJson $d }}`,
	"hash":         `{{ hash $d }}`,
	"stringify":    `{{ stringify $d }}`,
	"deepCopy":     `{{ $_ := deepCopy $d }}`,
	"deepEqual":    `{{ deepEqual $d $d }}`,
	"printf":       `{{ printf "%v" $d }}`,
	"quote":        `{{ quote $d }}`,
	"toString":     `{{ toString $d }}`,
	"join":         `{{ join "," (list $d) }}`,
	"has":          `{{ has $d (list $d) }}`,
	"html":         `{{ html $d }}`,
	"toStrings":    `{{ toStrings (list $d) }}`,
}

func onEach(value, of string, actions map[string]string) map[string]string {
	templates := make(map[string]string, len(actions))
	for name, action := range actions {
		templates[strings.Join([]string{name, of}, " of ")] = value + action
	}
	return templates
}
