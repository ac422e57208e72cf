package gitremote

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// The output of a server keeps its beginning and its end, in bounded memory. No part of a secret is shown where bytes
// are missing, however the secret lies there, in one long line too.
func TestServerOutput(t *testing.T) {
	const secret = "0123456789abcdefghijklmnopqrstuvwxyz"
	secrets := &redact.Secrets{}
	secrets.Add(secret)
	for seed := range seeds.Of(t, 60, 2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		separator := []string{" ", "\n", "", "\r", "\r\n"}[random.IntN(5)]
		var text strings.Builder
		text.WriteString("FIRST\n" + strings.Repeat("-", random.IntN(len(secret))))
		for size := random.IntN(400 << 10); text.Len() < size; {
			text.WriteString(secret + separator + strings.Repeat("-", random.IntN(3)*random.IntN(20)))
		}
		text.WriteString("\nLAST")
		w := &serverOutput{redact: secrets.Redact}
		for rest := text.String(); rest != ""; {
			n := min(len(rest), 1+random.IntN(70<<10))
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		lines := w.lines()
		shown := strings.Join(lines, "\n")
		if lines[0] != "FIRST" || lines[len(lines)-1] != "LAST" || len(shown) > 2*shownOutput+100 {
			t.Errorf("%d bytes: %d lines, %d bytes, from %.20q to %.20q", text.Len(), len(lines), len(shown), lines[0],
				lines[len(lines)-1])
		}
		for i := range len(secret) - 5 { // no part of it
			if strings.Contains(strings.ReplaceAll(shown, "bytes left out", ""), secret[i:i+6]) {
				t.Errorf("%d bytes, separator %q: a part of the secret is shown", text.Len(), separator)
				break
			}
		}
		if kept := cap(w.head) + cap(w.tail); kept > 8*keptOutput {
			t.Errorf("%d bytes of memory", kept)
		}
		if cut := text.Len() > 2*keptOutput; cut && !strings.Contains(shown, "bytes left out …]") {
			t.Errorf("%d bytes: the gap is not marked", text.Len())
		}
	}
}
