package engine_test

import (
	"maps"
	"slices"
	"strings"
)

// Parts of the errors of the limits.
const (
	tooSlow = "takes more than 500ms for one file"
	tooMuch = "return more than 64Mi in all"
	tooLong = "it would take too long"
	size    = "limits.file_size"
	nested  = "nested more than 100 levels deep"
	passes  = "after 8 more passes"
)

// self makes a map that contains itself. shared makes a list of 40 levels, each of which contains the next level twice.
// long makes two equal texts of 500,000 bytes.
const (
	self   = `{{ $d := dict }}{{ $_ := set $d "a" $d }}`
	shared = `{{ $d := list 1 }}{{ range 40 }}{{ $d = list $d $d }}{{ end }}`
	long   = `{{ $l := repeat 500000 "a" }}{{ $m := print $l "" }}`
)

// fails returns cases of templates that exceed a limit. want is a part of the error, which must name the template.
func fails(want string, templates map[string]string) (cases []hostileCase) {
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		cases = append(
			cases,
			hostileCase{name: name, run: ofTemplate(templates[name], nil), want: want, object: `Template "r"`},
		)
	}
	return cases
}

// renders returns cases of templates that render. want is a part of the file.
func renders(want string, templates map[string]string) (cases []hostileCase) {
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		cases = append(cases, hostileCase{name: name, run: ofTemplate(templates[name], nil), want: want, renders: true})
	}
	return cases
}

// hostileTemplates returns cases of templates that loop, call each other, print too much, or read data that they must
// not read, such as environment variables.
func hostileTemplates() (all []hostileCase) {
	all = append(all, fails(tooSlow, map[string]string{
		"a range of all numbers": `{{ range 9000000000000000000 }}{{ end }}`,
		"ranges in ranges":       `{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}`,
		"lists in lists":         `{{ range until 10000 }}{{ range until 10000 }}{{ end }}{{ end }}`,
		"a body of many nodes":   `{{ range 1000000 }}` + strings.Repeat(`{{ if $.Workload }}{{ end }}`, 500) + `{{ end }}`,
		"many variables":         wordsOf(9000, `{{ $v%d := 1 }}`) + `{{ range 1000000 }}{{ if $v0 }}{{ end }}{{ end }}`,
		"calls of functions":     `{{ range 900000 }}{{ $_ := add 1 1 }}{{ end }}`,
		"calls without end": `{{ define "a" }}{{ if lt . 60 }}{{ template "a" (add1 .) }}{{ template "a" (add1 .) ` +
			`}}{{ end }}{{ end }}{{ template "a" 0 }}`,
		"two long loops": `{{ range 900000 }}{{ if $.Labels }}{{ continue }}{{ end }}{{ end }}{{ range 900000 ` +
			`}}{{ end }}`,
		"else after else": `{{ range 1000000 }}{{ if eq . -1 }}` + strings.Repeat(
			`{{ else if eq . -2 }}`,
			4000,
		) + `{{ end }}{{ end }}`,
		"a loop that breaks soon": `{{ range 1000000 }}{{ range 9 }}{{ break }}{{ end }}{{ end }}`,
	})...)
	all = append(all, fails(tooSlow, map[string]string{
		"long texts compared":    long + `{{ range 900000 }}{{ if eq $l $m }}{{ end }}{{ end }}`,
		"long texts in order":    long + `{{ range 900000 }}{{ if lt $l $m }}{{ end }}{{ end }}`,
		"long texts looked up":   long + `{{ range 900000 }}{{ if index $.Labels $l }}{{ end }}{{ end }}`,
		"long texts passed on":   long + `{{ range 900000 }}{{ if $l | eq $m }}{{ end }}{{ end }}`,
		"long texts in brackets": long + `{{ range 900000 }}{{ if (eq ($l) ($m)) }}{{ end }}{{ end }}`,
	})...)
	all = append(all, fails("exceeded maximum template depth", map[string]string{
		"a template that calls itself": `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
		"templates that call each other": `{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ template "a" . ` +
			`}}{{ end }}{{ template "a" . }}`,
		"a block that calls itself": `{{ block "a" . }}{{ template "a" . }}{{ end }}`,
		"101 nested templates": wordsOf(
			101,
			`{{ define "t%[1]d" }}{{ template "t" }}{{ end }}`,
		) + `{{ define "t" }}{{ template "t0" }}{{ end }}{{ template "t100" }}`,
	})...)
	all = append(all, fails(size, map[string]string{
		"a long output":               `{{ range 1000 }}` + strings.Repeat("x", 2000) + `{{ end }}`,
		"a text in a loop":            `{{ $x := repeat 100000 "x" }}{{ range 100 }}{{ $x }}{{ end }}`,
		"a text that doubles":         `{{ $x := "xx" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}`,
		"a text passed to a template": `{{ define "a" }}{{ template "a" (print . .) }}{{ end }}{{ template "a" "xx" }}`,
		"a text that escapes":         `{{ $x := "\"" }}{{ range 60 }}{{ $x = quote $x }}{{ end }}`,
		"output of many calls": `{{ define "a" }}` + strings.Repeat("y", 2000) + `{{ end }}{{ range 600 }}{{ template ` +
			`"a" }}{{ end }}`,
	})...)
	all = append(all, fails("actions; at most 10000 are allowed", map[string]string{
		"many actions":              strings.Repeat(`{{ . }}`, 100_000),
		"many ifs":                  strings.Repeat(`{{ if true }}`, 100_000) + strings.Repeat(`{{ end }}`, 100_000),
		"many else ifs":             `{{ if true }}` + strings.Repeat(`{{ else if true }}`, 100_000) + `{{ end }}`,
		"many templates":            wordsOf(50_000, `{{ define "t%d" }}{{ end }}`),
		"many variables to declare": wordsOf(50_000, `{{ $v%d := 1 }}`),
	})...)
	all = append(all, fails("", map[string]string{
		"many brackets": `{{ ` + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")",
			200_000) + ` }}`,
		"the environment":                     `{{ env "HOME" }}`,
		"a text with an environment variable": `{{ expandenv "$HOME" }}`,
		"an address on the network":           `{{ getHostByName "localhost" }}`,
		"the clock":                           `{{ now }}`,
		"a random text":                       `{{ randAlphaNum 5 }}`,
		"a key":                               `{{ genPrivateKey "rsa" }}`,
		"a slow hash":                         `{{ bcrypt "x" }}`,
		"a template without a file":           `{{ template "/etc/passwd" }}`,
		"an address in memory":                `{{ printf "%p" .Labels }}`,
		"our own functions":                   `{{ kalypso_leave }}`,
		"a field of a field":                  `{{ .Workload.Name.Secret }}`,
	})...)
	all = append(all, renders("x: ", map[string]string{
		"nested ifs": "x: " + strings.Repeat(`{{ if true }}`, 4000) + strings.Repeat(`{{ end }}`,
			4000),
		"nested brackets":                     "x: {{ " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + " }}",
		"the length of a shared value":        shared + `x: {{ len $d }}`,
		"a shared value passed to a template": shared + `{{ define "a" }}{{ len . }}{{ end }}x: {{ template "a" $d }}`,
		"90 templates":                        wordsOf(90, `{{ define "t%d" }}y{{ end }}`) + `x: {{ template "t89" }}`,
		"a million bytes":                     `x: {{ repeat 1000000 "y" }}`,
		"an ordinary loop":                    `x: {{ range 20000 }}{{ if gt . 19998 }}{{ . }}{{ end }}{{ end }}`,
		"many literal brackets": "x: " + strings.Repeat("{", 1) + strings.Repeat("}", 5) + strings.Repeat(" { ",
			100_000),
		"lines without an action": "x: |\n" + strings.Repeat("  line\n", 100_000),
	})...)
	return all
}
