package secretscan

import (
	"regexp"
	"slices"
	"strings"
)

// The kinds of secrets that are recognized by their names.
const (
	passwordByName = "a password by its name"
	keyByName      = "a key or token by its name"
)

// passwordNames and keyNames are the ends of names, in lower case and without the separators of words. The names in
// keyNames that end in "key" have a word before it.
var (
	passwordNames = []string{"password", "passwd", "passphrase", "pwd", "pass", "pw"}
	keyNames      = []string{"secret", "token", "credential", "credentials", "secretkeybase"}
	keyWords      = []string{
		"api", "access", "secret", "private", "signing", "encryption", "account", "auth", "master", "shared", "storage",
		"subscription", "license", "deploy", "admin", "function", "host", "app",
	}
	// otherNames lists parts of names that look like the names of secrets, but name something else. otherEnds lists ends
	// of such names.
	otherNames = []string{"public", "csrf", "xsrf"}
	otherEnds  = []string{"nexttoken", "pagetoken", "cursortoken", "resumetoken", "continuationtoken", "bypass", "compass"}
)

// separators separate the words of a name.
var separators = strings.NewReplacer("_", "", "-", "", ".", "")

// kindOf returns the kind of secret that has such a name, or "".
func kindOf(name string) string {
	name = separators.Replace(strings.ToLower(name))
	ends := func(with string) bool { return strings.HasSuffix(name, with) }
	has := func(part string) bool { return strings.Contains(name, part) }
	before, isKey := strings.CutSuffix(name, "key")
	var kind string
	switch {
	case slices.ContainsFunc(passwordNames, ends):
		kind = passwordByName
	case slices.ContainsFunc(keyNames, ends),
		isKey && slices.ContainsFunc(keyWords, func(word string) bool { return strings.HasSuffix(before, word) }):
		kind = keyByName
	default:
		return "" // most names end here, at the least cost
	}
	if slices.ContainsFunc(otherNames, has) || slices.ContainsFunc(otherEnds, ends) {
		return ""
	}
	return kind
}

// assignments find a name with its value in a text: in YAML, JSON, INI, .env files and XML.
var assignments = []rule{
	{
		name: passwordByName,
		anchors: []string{"assword", "ASSWORD", "asswd", "ASSWD", "assphrase", "ASSPHRASE", "pwd", "PWD", "Pwd", "_PASS",
			"_pass",
			"pass:", "pw", "PW"},
		may:     hasValue,
		pattern: assigned(`password|passwd|passphrase|pwd|_pass|\bpass|pw`),
		is:      isNamed, secret: []int{2},
	},
	{
		name: keyByName,
		anchors: []string{"ecret", "ECRET", "oken", "OKEN", "redential", "REDENTIAL", "_key", "_KEY", "Key", "-key", ".key",
			"apikey",
			"APIKEY"},
		may:     hasValue,
		pattern: assigned(`secret|token|credentials?|[a-z][_.-]?key|secret_key_base`),
		is:      isNamed, secret: []int{2},
	},
}

// assigned returns a pattern with the groups name and value.
func assigned(ends string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s,;{&?"'<(-])([\w.-]*(?:` + ends +
		`))["']?[ \t]*(?::|=>|=|>)[ \t]*["']?([^\s"',;&<>]{5,})`)
}

// isNamed reports whether the match of an assignment is a secret, judged by its name.
func isNamed(_ string, match []string) bool {
	return ofName(match[1], match[2]) != "" && !noValue.MatchString(match[0])
}

// hasValue reports whether the rest of a name and a value follow an anchor.
func hasValue(after string) bool {
	after = strings.TrimLeft(strings.TrimPrefix(after, "s"), "\"' \t")
	value := strings.TrimLeft(after, ":=> \t\"'")
	return len(value) < len(after) && strings.ContainsAny(after[:1], ":=>") && value != "" &&
		!strings.ContainsAny(value[:1], ";,&\r\n<")
}

// ofName returns the kind of secret that the name of a value promises. It returns "" if the name promises none, or if
// the value is a word, a number, a reference or a placeholder.
func ofName(name, value string) string {
	value = strings.TrimSpace(value)
	if len(value) < shortestPassword || strings.ContainsAny(value, " \n\t\r") || strings.Contains(value, "://") {
		return "" // most values end here, at the least cost
	}
	kind := kindOf(name)
	if kind == "" || refersTo(value) || isWords(value) {
		return ""
	}
	if kind == keyByName && (!isRandom(value) || objectName.MatchString(value)) ||
		len(value) == shortestPassword && isNumber(value) {
		return ""
	}
	return kind
}

// shortestPassword is the length in characters of the shortest password that is recognized by its name.
const shortestPassword = 5

// refersTo reports whether a value is not a secret itself, because it says where a secret is, is public, or is
// encrypted.
func refersTo(value string) bool {
	return strings.Contains(value, "://") || strings.ContainsAny(value, "()`") || where.MatchString(value) ||
		isReference(value)
}

// where matches the start of a value for [refersTo]. Ag[A-D] is a SealedSecret: the length of a key with 4096 bits; AQ
// and BA are the lengths of other keys. AQICA and CiQA are ciphertext of the key services of AWS and Google, and AAAA
// is a public key of SSH.
var where = regexp.MustCompile(`^(?:[/~!&*|@?]|\^?[0-9]+\.[0-9]+\.[0-9]+$|\./|\.\./|(?:vault|arn|ref\+\w+|op` +
	`|secretref|ssm|sm|aws|gcp|azure|file|env|secretsmanager|keyvault|encrypted|sha\d+|SHA\d+|md5):|projects/|secrets?/` +
	`|ssh-|age1|Ag[A-D]|(?:AQ|BA)[A-D][A-Za-z0-9+/]{300}|AQICA|CiQA|AAAA[BCEGI]|\$2[aby]\$|\{\w+\}|pk_)`)

// words matches a name: words of letters, with numbers at their ends if there are several.
var words = regexp.MustCompile(`^\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*$|^\p{Lu}+$|` +
	`^(?:[A-Za-z]+[0-9]{0,3}|[0-9]{1,4})(?:[-_./:@](?:[A-Za-z]+[0-9]{0,3}|[0-9]{1,4}|v[0-9.]+))+$`)

// isWords reports whether a value is a name, or a label such as "Password:", rather than a password.
func isWords(value string) bool { return words.MatchString(strings.TrimRight(value, ":?.…")) }

// objectName matches the name of an object in Kubernetes that ends with a date, or with a hash in the letters that
// Kubernetes and Kustomize use.
var objectName = regexp.MustCompile(`^[a-z]+(?:-(?:[a-z]+[0-9]{0,3}|[0-9]{1,4}))*` +
	`-(?:20[0-9]{6}|[b-df-hj-np-tv-z2456789]{5}|[b-df-hj-np-tv-z2456789]{8,10})$`)

func isNumber(value string) bool { return strings.Trim(value, "0123456789.") == "" }

// shortestKey is the length in characters of the shortest key or token that is recognized without a prefix.
const shortestKey = 16

// isRandom reports whether a value is as long and as mixed as a key or token is.
func isRandom(value string) bool {
	return len(value) >= shortestKey && strings.ContainsAny(value, "0123456789") && !isNumber(value)
}

// documentation matches what people write in place of a secret, and the secrets of manuals and emulators.
var documentation = regexp.MustCompile(`(?i)example|redacted|placeholder|change[-_]?(?:me|it)|replace[-_]?(?:me` +
	`|with)|` +
	`\byour[-_]|dummy|x{6}|\*{3}|insert[-_]|not[-_]?a[-_]?secret|` +
	`wJalrXUtnFEMI/K7MDENG|Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq|` +
	`C2y6yDjf5/R\+ob0N8A7Cgv30VRDJIWEHLM\+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw|` +
	`SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c|sk_test_(?:4eC39HqLyjWDarjtT1zdp7dc|BQokikJOvBiI2HlWgH4olfQ2)|` +
	`16C7e42F292c6912E7710c838347Ae178B4a`)

// isDocumentation reports whether a text is a placeholder for a secret, or a well-known value that protects nothing.
func isDocumentation(text string) bool { return documentation.MatchString(text) }
