package render

import (
	"reflect"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pattern"
)

// patternWork returns the cost of compiling and matching a regular expression.
func patternWork(args []reflect.Value, _ int64) (int64, error) {
	cost, err := pattern.Measure(args[0].String())
	if err != nil {
		return 0, boundError("%v", err)
	}
	return cost.Compile + times(cost.Match, int64(args[1].Len())), nil
}
