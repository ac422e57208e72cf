package printable_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// TestEscape checks which characters are escaped.
func TestEscape(t *testing.T) {
	for _, tc := range []struct{ in, text, line string }{
		{"plain", "plain", "plain"},
		{"", "", ""},
		{"ü 日本 é 🚀 a\u00a0b \ufffd", "ü 日本 é 🚀 a\u00a0b \ufffd", "ü 日本 é 🚀 a\u00a0b \ufffd"},
		{`back\slash "quoted"`, `back\slash "quoted"`, `back\slash "quoted"`},
		{"a\n\tb", "a\n\tb", `a\n\tb`},
		{"a\r\nb\rc", "a\nb\\rc", `a\r\nb\rc`},
		{"\x1b[2J\x1b]0;title\x07", `\x1b[2J\x1b]0;title\a`, `\x1b[2J\x1b]0;title\a`},
		{"\x00\b\x7f", `\x00\b\x7f`, `\x00\b\x7f`},
		{"\u0085\u009b31m", `\u0085\u009b31m`, `\u0085\u009b31m`},
		{"\u202etxt.exe", `\u202etxt.exe`, `\u202etxt.exe`},
		{"\u2066\u2069\u200f\u061c", `\u2066\u2069\u200f\u061c`, `\u2066\u2069\u200f\u061c`},
		{"a\u200b\u200d\u2060\ufeff\u00adb", `a\u200b\u200d\u2060\ufeff\u00adb`, `a\u200b\u200d\u2060\ufeff\u00adb`},
		{"a\u2028b\u2029", `a\u2028b\u2029`, `a\u2028b\u2029`},
		{"\U000e0041\ue000", `\U000e0041\ue000`, `\U000e0041\ue000`},
		{"bad \xff\xc3", `bad \xff\xc3`, `bad \xff\xc3`},
	} {
		if got := printable.Text(tc.in); got != tc.text {
			t.Errorf("Text(%q) is %q, want %q", tc.in, got, tc.text)
		}
		if got := printable.Line(tc.in); got != tc.line {
			t.Errorf("Line(%q) is %q, want %q", tc.in, got, tc.line)
		}
		if got := printable.Text(printable.Text(tc.in)); got != tc.text {
			t.Errorf("Text twice of %q is %q, want %q", tc.in, got, tc.text)
		}
	}
}

// TestShellWord lets a real shell print each word.
func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 `''`,
		"https://acme.io/team/control.git": `https://acme.io/team/control.git`,
		"git@acme.io:team/control_plane":   `git@acme.io:team/control_plane`,
		"~root/x":                          `'~root/x'`,
		"-x":                               `'-x'`,
		"a=b":                              `'a=b'`,
		"https://acme.io/a;touch x":        `'https://acme.io/a;touch x'`,
		"https://acme.io/a&touch$IFS'x'":   `'https://acme.io/a&touch$IFS'\''x'\'''`,
		"`touch x`$(touch x)\"|>x!!*?[a]#": "'`touch x`$(touch x)\"|>x!!*?[a]#'",
		"ü日":                               `'ü日'`,
		"a\nb\x1b":                         `'a\nb\x1b'`,
	} {
		got := printable.ShellWord(in)
		if got != want {
			t.Errorf("ShellWord(%q) is %s, want %s", in, got, want)
		}
		read := exec.Command("sh", "-c", "printf %s "+got)
		read.Dir = t.TempDir()
		if out, err := read.Output(); err != nil || string(out) != printable.Line(in) {
			t.Errorf("the shell reads %s as %q, %v", got, out, err)
		}
		if made, err := os.ReadDir(read.Dir); err != nil || len(made) > 0 {
			t.Errorf("the shell ran a part of %s: %v, %v", got, made, err)
		}
	}
}
