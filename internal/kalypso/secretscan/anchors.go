package secretscan

import (
	"slices"
	"strings"
)

// anchors finds the anchors of all rules.
var anchors = newAnchorIndex(slices.Concat(rules, tokens, assignments))

// anchorIndex finds the anchors of rules in one pass over a text. Most values contain no secret, so they only cost this
// pass.
type anchorIndex struct {
	ends  [1 << 10]uint64     // a bit for each two bytes that an anchor ends with
	by    map[uint16][]anchor // by these two bytes, which are rarer than those at the start
	rules []rule              // at most 64
}

// anchor is an anchor of the rule with a number.
type anchor struct {
	text string
	rule int
}

func newAnchorIndex(rules []rule) *anchorIndex {
	x := &anchorIndex{by: map[uint16][]anchor{}, rules: rules}
	for i, r := range rules {
		for _, text := range r.anchors {
			end := twoBytes(text, len(text))
			x.ends[end/64] |= 1 << (end % 64)
			x.by[end] = append(x.by[end], anchor{text, i})
		}
	}
	return x
}

// twoBytes returns the two bytes before i as a number.
func twoBytes(text string, i int) uint16 { return uint16(text[i-2])<<8 | uint16(text[i-1]) }

// rulesIn returns the rules that may match the text, a bit for each.
func (x *anchorIndex) rulesIn(text string) (found uint64) {
	for i := 2; i <= len(text); i++ {
		end := twoBytes(text, i)
		if x.ends[end/64]&(1<<(end%64)) == 0 {
			continue
		}
		for _, a := range x.by[end] {
			if bit := uint64(1) << a.rule; found&bit == 0 && strings.HasSuffix(text[:i], a.text) {
				if may := x.rules[a.rule].may; may == nil || may(text[i:]) {
					found |= bit
				}
			}
		}
	}
	return found
}
