package parallel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// TestPanic: a panic in one call neither ends the process nor stops the other calls. The first panic is reported. Its
// text has the object and the place in the code, but not the value of the panic, which may be secret.
func TestPanic(t *testing.T) {
	ran := make([]bool, 100)
	var err error
	func() {
		defer problem.ReportPanic(func(p *problem.Panic) { err = p })
		parallel.Do(len(ran), func(i int) {
			defer problem.NamePanic("Template", string(rune('a'+i%26)))
			ran[i] = true
			if i > 1 {
				_ = ran[100+i]
			}
			if i == 1 {
				panic("a secret")
			}
		})
	}()
	var p *problem.Panic
	if !errors.As(err, &p) {
		t.Fatalf("no panic: %v", err)
	}
	if found := p.Problem(); found.Kind != "Template" || found.Name != "b" {
		t.Errorf("the panic is at %s", found.Subject())
	}
	for _, want := range []string{`Template "b"`, "/issues", "parallel_test.TestPanic"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %s", want, err)
		}
	}
	if strings.Contains(err.Error(), "a secret") {
		t.Errorf("the value is shown: %s", err)
	}
	for i, has := range ran {
		if !has {
			t.Errorf("call %d did not run", i)
		}
	}
}

// TestGo: wait returns after the work, and panics if the work panicked.
func TestGo(t *testing.T) {
	done := false
	parallel.Go(func() { done = true })()
	if !done {
		t.Error("wait returned before the work")
	}
	wait := parallel.Go(func() { panic("a bug") })
	defer problem.ReportPanic(func(*problem.Panic) {})
	wait()
	t.Error("wait did not panic")
}
