package deployment

import (
	"fmt"
	"strconv"
	"strings"
)

// Limit is a number of clusters, or a percentage of a folder's clusters. The zero value allows none.
type Limit struct {
	Number     int
	Percentage bool
}

// ParseLimit parses a number such as "2" or a percentage such as "25%".
func ParseLimit(text string) (Limit, error) {
	number, percentage := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || percentage && n > 100 {
		return Limit{}, fmt.Errorf("%q is neither a number, such as 2, nor a percentage from \"0%%\" to \"100%%\"", text)
	}
	return Limit{n, percentage}, nil
}

// allows reports whether n of total are within the limit.
func (l Limit) allows(n, total int) bool {
	if l.Percentage {
		return n*100 <= l.Number*total
	}
	return n <= l.Number
}
