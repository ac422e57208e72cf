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
	// endings maps the last two bytes of each anchor to their place in by, and all other pairs of bytes to 0. The last
	// bytes of anchors are rarer than the first.
	endings [1 << 16]uint8
	by      [][]anchor
	rules   []rule // at most 64
}

// anchor is an anchor and the number of its rule.
type anchor struct {
	text string
	rule int
}

func newAnchorIndex(rules []rule) *anchorIndex {
	x := &anchorIndex{by: make([][]anchor, 1), rules: rules}
	for i, r := range rules {
		for _, text := range r.anchors {
			end := uint16(text[len(text)-2])<<8 | uint16(text[len(text)-1])
			if x.endings[end] == 0 {
				x.endings[end] = uint8(len(x.by)) //nolint:gosec // fewer than 256
				x.by = append(x.by, nil)
			}
			x.by[x.endings[end]] = append(x.by[x.endings[end]], anchor{text, i})
		}
	}
	return x
}

// rulesIn returns the rules that may match the text, as a bit set.
func (x *anchorIndex) rulesIn(text string) (found uint64) {
	var end uint16 // the last two bytes
	for i := range len(text) {
		end = end<<8 | uint16(text[i])
		place := x.endings[end]
		if place == 0 {
			continue
		}
		for _, a := range x.by[place] {
			if bit := uint64(1) << a.rule; found&bit == 0 && strings.HasSuffix(text[:i+1], a.text) {
				if may := x.rules[a.rule].may; may == nil || may(text[i+1:]) {
					found |= bit
				}
			}
		}
	}
	return found
}
