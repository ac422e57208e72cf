package render

import "cmp"

// isPrintableASCII reports whether s consists of printable ASCII characters. [compareYAMLKeys] may order other keys
// differently from the library.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// compareYAMLKeys orders keys as the YAML library does. Numbers in keys are compared by value. Other characters come
// before letters, but after a digit they come after letters.
func compareYAMLKeys(a, b string) int {
	afterDigits := false
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			afterDigits = isDigit(x)
			continue
		}
		switch {
		case isLetter(x) && isLetter(y):
			return cmp.Compare(x, y)
		case isLetter(x) != isLetter(y):
			if isLetter(x) == afterDigits {
				return -1
			}
			return 1
		}
		return compareYAMLNumbers(a, b, i)
	}
	return cmp.Compare(len(a), len(b))
}

// compareYAMLNumbers compares keys that differ first at byte i, where neither has a letter.
func compareYAMLNumbers(a, b string, i int) int {
	var before int64 // 1 if a digit other than 0 precedes, so that a 0 is significant
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && isDigit(a[j]); j-- {
			if a[j] != '0' {
				before = 1
				break
			}
		}
	}
	number := func(s string) (n int64, end int) {
		n, end = before, i
		for ; end < len(s) && isDigit(s[end]); end++ {
			n = n*10 + int64(s[end]-'0')
		}
		return n, end
	}
	m, endA := number(a)
	n, endB := number(b)
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(endA, endB), cmp.Compare(a[i], b[i]))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
