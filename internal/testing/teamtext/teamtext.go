// Package teamtext contains hostile texts of a team: they try to mention people, close issues, run commands, change
// pages and terminals, and act as templates. Wherever texts of teams are shown, they must remain data.
package teamtext

import "strings"

// Hostile contains the texts.
var Hostile = append([]string{
	// These try to run commands of a host, mention people and link issues.
	"/merge", "a\n/close", "@user", "#1", "!1", "`@user`", "``` @user", "a|b @user", "a\\`@user", "\r/assign @me", "a`",
	"```\n/merge\n```", "-->\n/merge", "]( @user", "<b>@user", "&#64;user", "> /x", "    /x", "\t#1", "$(x) ~~~\n!1",
	"\u2028/merge", "https://acme.io/#1", "@<9e5d8f4c-1d8c-4f0a-8f5e-3b8f0a7a1c2d>", "AB#12", "",
	"@acme/platform", "@all", "@everyone", "fixes #1", "Closes: acme/app#1", "resolves acme/app!1", "GH-1", "acme/app#1",
	"Fixes https://github.com/acme/app/issues/1", "/label ~bug", "/reopen", "/confidential", "~bug", "%\"1.0\"", "&1",
	"[issue:1]", "[[wiki]]", "ref #2, @ann and !3", "* @ann", "1. @ann", "# @ann", "| @ann |", "- [x] @ann", "~~@ann~~",
	"**@ann**", "_@ann_", "[@ann](https://evil.example/#1)", "<@ann>", "(@ann)", "\"@ann\"", "'@ann'", "@ann\n@bob\n@cora",
	"````\n@ann\n````",
	"~~~\n@ann\n~~~", "`` @ann `` @bob", "`@ann\n`", "```", "````", "`````` @ann",
	// These try to be rendered as HTML, pictures, scripts and diagrams.
	"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</style></script><svg onload=alert(1)>",
	"' onmouseover='alert(1)", "javascript:alert(1)", "[x](javascript:alert(1))", "![x](https://evil.example/x.png)",
	"<details open><summary>x</summary>", "<!-- kalypso-fault: x -->", "x\n<!-- kalypso-fault: x -->\nx", "</code></pre>",
	"<br>", "<a href=https://evil.example>x</a>", "```mermaid\ngraph LR\n```", "$$x$$", ":tada:", "[^1]", "[x]: https://x",
	"---\ntitle: x\n---", "===", "\\", "&lt;b&gt;", "{{.}}${alert(1)}", "`-alert(1)-`",
	// These try to move the cursor of a terminal, or to disguise or end a line.
	"\x1b[2J\x1b]0;title\x07", "\x00\b\x7f", "\u0085\u009b31m", "\u202etxt.exe", "\u2066\u2069\u200f\u061c",
	"a\u200b\u200d\u2060\ufeff\u00adb", "a\u2029b", "\U000e0041\ue000", "bad \xff\xc3", "a\r\nb\rc",
	// These are templates or have a meaning in YAML.
	"{{ .ConfigData.SECRET }}", "{{", "x\nkind: Secret", "*a", "!!x [", "{a: b", "${file:/etc/passwd}", "%s%n",
}, strings.Repeat("@ann ", 2000), strings.Repeat("`", 5000))
