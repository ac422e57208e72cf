package secretscan

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// rules lists the shapes that the issuers of secrets document. The lengths are lower bounds, because issuers make
// tokens longer.
var rules = []rule{
	{
		name:    "a private key",
		anchors: []string{"PRIVATE KEY"},
		pattern: regexp.MustCompile(
			`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\+[nr])*(\S{1,40})`),
		secret: []int{1},
		is: func(_ string, match []string) bool {
			return !strings.Contains(match[1], "...") && (keyStart.MatchString(match[1]) ||
				encodedKey.MatchString(match[1]) && isRandom(match[1]))
		},
	},
	{
		name:    "a private key in base64",
		anchors: []string{base64OfBegin},
		pattern: regexp.MustCompile(base64OfBegin + `[A-Za-z0-9+/]{16,64}`),
		is: func(_ string, match []string) bool {
			text, _ := base64.RawStdEncoding.DecodeString(match[0][:len(match[0])/4*4])
			return strings.Contains(string(text), "PRIVATE KEY")
		},
	},
	{name: "an age key", anchors: []string{"AGE-SECRET-KEY-1"},
		pattern: regexp.MustCompile(`AGE-SECRET-KEY-1[0-9A-Z]{50}`)},
	{
		name:    "a GitHub token",
		anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		pattern: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{36})`),
	},
	{
		name: "a GitLab token",
		anchors: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glagent-", "glft-", "glimt-", "gloas-",
			"glffct-", "glrtr-", "GR1348941"},
		pattern: regexp.MustCompile(
			`\bgl(?:pat|dt|rt|ptt|cbt|soat|agent|ft|imt|oas|ffct|rtr)-[A-Za-z0-9_-]{20}|\bGR1348941[A-Za-z0-9_-]{20}`),
	},
	{
		name:    "an Azure client secret",
		anchors: []string{"Q~"},
		pattern: regexp.MustCompile(`(?:^|[^A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31}`),
	},
	{
		name:    azureDevOps,
		anchors: []string{"AZDO"},
		pattern: regexp.MustCompile(`\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b`),
	},
	{
		name:    "an Azure key",
		anchors: []string{"JQQJ9", "+ASt", "+ABa", "ACDb", "AzSe", "AzCa", "AzFu"},
		pattern: regexp.MustCompile(
			`\b[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{26}|[A-Za-z0-9/+]{76}\+A(?:St|Ba)[A-Za-z0-9/+]{5}[AQgw]==` +
				`|[A-Za-z0-9/+]{76}ACDb[A-Za-z0-9/+]{5}[AQgw]==|[A-Za-z0-9]{42}Az(?:Se|Ca)[A-Za-z0-9]{6}` +
				`|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==`,
		),
	},
	{
		name: "a key in a connection string",
		anchors: []string{"AccountKey", "AccessKey", "accountkey", "accesskey", "ACCOUNTKEY", "ACCESSKEY",
			"SharedSecretValue"},
		may: isAssigned,
		pattern: regexp.MustCompile(`(?i)(?:^|[;,\s"'&])(?:AccountKey|(?:Shared)?AccessKey|SharedSecretValue)` +
			`\s*=\s*[A-Z0-9+/]{30,}={0,2}(?:$|[;,\s"'&])`),
	},
	{
		name:    "an Azure shared access signature",
		anchors: []string{"sig="},
		pattern: regexp.MustCompile(`[?&;"'\s]sig=[A-Za-z0-9%+/]{40,}|^sig=[A-Za-z0-9%+/]{40,}`),
		is:      func(text string, _ []string) bool { return strings.Contains(text, "se=") },
	},
	{
		name:    "an AWS access key",
		anchors: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
		pattern: regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`),
	},
	{
		name:    awsSecret,
		anchors: []string{"secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"},
		pattern: regexp.MustCompile(`(?i)secret_?access_?key["']?\s*=\s*["']?[A-Za-z0-9/+]{40}(?:$|[^A-Za-z0-9/+=])`),
	},
	{
		name:    "a Slack token",
		anchors: []string{"xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"},
		pattern: regexp.MustCompile(`\b(?:xox[abcdeoprs]|xoxe\.xox[bp]|xapp)-[A-Za-z0-9%+/-]{20}`),
	},
	{
		name:    "a Slack webhook",
		anchors: []string{"hooks.slack.com/"},
		pattern: regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30}`),
	},
	{name: "an npm token", anchors: []string{"npm_"}, pattern: regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}`)},
	{
		name:    "a JWT",
		anchors: []string{"eyJ"},
		pattern: regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]+)\.(eyJ[A-Za-z0-9_-]+)\.[A-Za-z0-9_-]{10,}`),
		is:      func(_ string, match []string) bool { return isHeader(match[1]) },
	},
	{
		name:    "a password in a URL",
		anchors: []string{"://"},
		may:     hasUserInfo,
		// A user and a password, or a token as the user. The user ends before a query, which may contain an @.
		pattern: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*)://(?:([^\s/:@?#"'<>\[]*):([^\s/"'<>]+)@([^\s/@"'<>]+)` +
			`|([\w.~+=-]{16,}):?@([^\s/@"'<>]+(?:/[0-9]+)?))`),
		secret: []int{3, 5},
		is: func(_ string, match []string) bool {
			if token := match[5]; token != "" {
				return takesToken.MatchString(match[1]) && isToken(token) && !isSentryDSN(token, match[6])
			}
			user, password := match[2], match[3]
			return !isReference(password) && !portOnly.MatchString(password) && !digest.MatchString(match[4]) &&
				user != password && kindOf(password) != passwordByName
		},
	},
	{
		name:    "a password in a connection string",
		anchors: []string{"@tcp(", "@unix("},
		pattern: regexp.MustCompile(`[\w.-]+:([^\s:/]+)@(?:tcp|unix)\(`),
		secret:  []int{1},
		is:      func(_ string, match []string) bool { return !isReference(match[1]) },
	},
	{
		name:    "a password in a connection string",
		anchors: []string{"password", "Password", "PASSWORD", "pwd", "Pwd", "PWD"},
		may:     isAssigned,
		pattern: regexp.MustCompile(`(?i)(?:^|[;,&?\s"'])(?:password|pwd)[ \t]*=[ \t]*['"]?([^;,&\s"']+)`),
		secret:  []int{1},
		is: func(text string, match []string) bool {
			return !isReference(match[1]) && !noValue.MatchString(match[0]) && connection.MatchString(text)
		},
	},
	{
		name:    "a password in a connection string",
		anchors: []string{"oracle:t", "oracle:o", "ORACLE:T", "ORACLE:O"},
		pattern: regexp.MustCompile(`(?i)oracle:(?:thin|oci8?):[^\s/@:"']+/"?([^\s"']+)"?@`),
		secret:  []int{1},
		is:      func(_ string, match []string) bool { return !isReference(match[1]) },
	},
	{
		name: "a line of an .htpasswd",
		anchors: []string{":$2", ":$$2", ":$apr1", ":$$apr1", ":{SHA}", ":{SSHA}", ":$1$", ":$$1$", ":$5$",
			":$$5$", ":$6$", ":$$6$"},
		// Compose files double each $.
		pattern: regexp.MustCompile(`[\w.@+-]:(?:\{S?SHA\}[A-Za-z0-9+/]{27}|\$\$?2[abxy]\$\$?[0-9]{2}\$\$?[./A-Za-z0-9]{53}` +
			`|\$\$?(?:apr1|[156])\$\$?(?:rounds=[0-9]+\$\$?)?[./A-Za-z0-9]{1,16}\$\$?[./A-Za-z0-9]{22})`),
	},
}

// isAssigned reports whether = and a value follow a name.
func isAssigned(after string) bool {
	value, ok := strings.CutPrefix(strings.TrimLeft(after, " \t"), "=")
	value = strings.TrimLeft(value, " \t'\"")
	return ok && value != "" && !strings.ContainsAny(value[:1], ";,&\r\n")
}

// hasUserInfo reports whether user information with a password or a token follows ://.
func hasUserInfo(after string) bool {
	if strings.IndexByte(after, '@') < 0 {
		return false // most URLs end here, at the least cost
	}
	end := strings.IndexAny(after, "/ \t\r\n\"'<>")
	if end < 0 {
		end = len(after)
	}
	at := strings.LastIndexByte(after[:end], '@')
	return at >= shortestKey || at > 0 && strings.Contains(after[:at], ":")
}

// isToken reports whether the user of a URL is a token rather than a name, because letters and digits alternate.
func isToken(user string) bool {
	turns := 0
	for i := 1; i < len(user); i++ {
		if isDigit(user[i]) != isDigit(user[i-1]) {
			turns++
		}
	}
	return turns > 2 && isRandom(user) && !isWords(user) && !uuid.MatchString(user)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isSentryDSN reports whether a URL's user is the public key of a project in Sentry, from the rest of the URL.
func isSentryDSN(user, rest string) bool {
	return publicKey.MatchString(user) && strings.Contains(rest, "/")
}

var (
	// keyStart and encodedKey match the start of a private key's text: a header, DER, or other base64. In manuals, prose
	// may follow the first line.
	keyStart   = regexp.MustCompile(`^(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):|M[C-I][A-Za-z0-9+/]{4})`)
	encodedKey = regexp.MustCompile(`^[A-Za-z0-9+/]{16}`)
	// takesToken matches the schemes of URLs whose user may be a token. In other schemes, the user is a name, or the ID of
	// a key.
	takesToken = regexp.MustCompile(`(?i)^(?:(?:git\+)?https?|nats|tls|wss?)$`)
	uuid       = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	publicKey  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	// portOnly matches a port and the query after it, which look like a password if the query contains an @.
	portOnly = regexp.MustCompile(`^[0-9]{1,5}[?#]`)
	// noValue matches a name without a value: after a space, the next name or a comment follows.
	noValue = regexp.MustCompile(`[^\s]=[ \t]+["']?(?:#|-*[A-Za-z][\w.-]*=)`)
	// digest matches the text after the @ of an image that is pinned by its digest.
	digest = regexp.MustCompile(`^sha(?:256|512):`)
	// connection matches another part of a connection string.
	connection = regexp.MustCompile(
		`(?i)(?:^|[;,&?\s"'])(?:server|data source|address|addr|network address|host|hostname|` +
			`endpoint|port|user id|userid|uid|user|username|database|dbname|initial catalog|ssl|sslmode|encrypt)\s*=|\bjdbc:`,
	)
)

// awsSecret is the kind of an AWS secret access key. Only the name of a value shows that it is one.
const awsSecret = "an AWS secret access key"

var (
	awsKeyName   = regexp.MustCompile(`(?i)aws_?secret_?access_?key$`)
	awsSecretKey = regexp.MustCompile(`^[A-Za-z0-9/+]{40}$`)
)

// base64OfBegin is the base64 form of "-----BEGIN " without its last character.
const base64OfBegin = "LS0tLS1CRUdJTi"

// isHeader reports whether a text is the header of a JWT.
func isHeader(text string) bool {
	data, err := base64.RawURLEncoding.DecodeString(text)
	var header struct{ Alg string }
	return err == nil && json.Unmarshal(data, &header) == nil && header.Alg != ""
}
