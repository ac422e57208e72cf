package configure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// TestValueBounds checks that a value which needs much more memory than its text, such as by aliases, is an error of
// its config. A value that is only long is accepted.
func TestValueBounds(t *testing.T) {
	laughs := "a: &a [" + strings.Repeat("x, ", 20) + "x]\n"
	for i := range 4 {
		laughs += fmt.Sprintf(
			"%c: &%c [%s]\n",
			'b'+i,
			'b'+i,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", 'a'+i), 10), ", "),
		)
	}
	tests := []struct{ name, value, want string }{
		{"text", "text", ""},
		{"long text", strings.Repeat("x", 1<<20), ""},
		{"longer text", strings.Repeat("x", 1<<20+1), `"V" has 1048577 bytes; limits.file_size allows 1Mi`},
		{
			"a long alias",
			"a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 100) + "*a]",
			"once its aliases are expanded",
		},
		{"more aliases than YAML allows, taken as text", laughs, ""},
		{"few aliases", "a: &a {b: 1}\nc: [*a, *a]", ""},
		{"deep lists", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested more than 100 levels deep"},
		{"very deep lists", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "nested more than 100 levels deep"},
		{"too deep for YAML, taken as text", strings.Repeat("[", 200_000), ""},
		{"deep maps", strings.Repeat("{a: ", 200) + strings.Repeat("}", 200), "nested more than 100 levels deep"},
		{"deep blocks", strings.Repeat("- ", 200) + "x", "nested more than 100 levels deep"},
		{"deep indents", deepBlock(150), "nested more than 100 levels deep"},
		{"an ordinary deep list", strings.Repeat("[", 60) + strings.Repeat("]", 60), ""},
		{"cron", "schedule: '*/5 * * * *' # & so on", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := &fleet.Config{
				Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
				Data: map[string]string{"V": tt.value, "W": "w"},
			}
			var err error
			took := processor.Least(2*time.Second, func() {
				_, problems := New(t.Context(), &fleet.Fleet{Configs: []*fleet.Config{config}}, &schedule.Schedule{})
				err = problems.Err()
			})
			if tt.want == "" && err != nil ||
				tt.want != "" &&
					(err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `ConfigMap "c"`)) {
				t.Errorf("%.500v, want %q", err, tt.want)
			}
			if took > 2*time.Second {
				t.Errorf("the processing of the values took %s", took)
			}
			if len(config.Data) != 2 {
				t.Error("the config was changed")
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String() + strings.Repeat(" ", n) + "a: x"
}

// TestMergeOfManyNames merges lists of many named elements. The time must not grow with the square of their number.
func TestMergeOfManyNames(t *testing.T) {
	list := func(from int) (all []any) {
		for i := range 50_000 {
			all = append(all, map[string]any{"name": fmt.Sprint("n", from+i), fmt.Sprint("k", from): i})
		}
		return append(
			all,
			map[string]any{"name": []any{"a", 1}, "k": from},
			map[string]any{"name": 1, "k": from},
			map[string]any{"name": "1", "k": from},
		)
	}
	var merged []any
	took := processor.Least(2*time.Second, func() { merged, _ = merge(list(0), list(25_000)).([]any) })
	if took > 2*time.Second {
		t.Errorf("the merge took %s", took)
	}
	if want := 75_000 + 3; len(merged) != want {
		t.Errorf("%d elements, want %d", len(merged), want)
	}
}
