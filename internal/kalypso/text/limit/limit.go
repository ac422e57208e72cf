// Package limit reads limits that are a number, or a percentage of a total.
package limit

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Limit is a number, or a percentage of a total. The zero value allows nothing.
type Limit struct {
	Number     int
	Percentage bool
}

// Parse reads "12" or "50%". A number has at most 31 bits.
func Parse(text string) (Limit, error) {
	value := intstr.Parse(text)
	percentage := value.Type == intstr.String
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	if err != nil || n < 0 || percentage && n > 100 {
		return Limit{}, fmt.Errorf("%q is neither a number, such as \"12\", nor a percentage from \"0%%\" to \"100%%\"", text)
	}
	return Limit{n, percentage}, nil
}

// String returns the limit as it is written.
func (l Limit) String() string {
	if l.Percentage {
		return strconv.Itoa(l.Number) + "%"
	}
	return strconv.Itoa(l.Number)
}

// Allows reports whether n of total are within the limit.
func (l Limit) Allows(n, total int) bool {
	if l.Percentage {
		return n*100 <= l.Number*total
	}
	return n <= l.Number
}

// RoundUp returns the limit as a number. It rounds a percentage of total up.
func (l Limit) RoundUp(total int) int {
	if l.Percentage {
		return (l.Number*total + 99) / 100
	}
	return l.Number
}
