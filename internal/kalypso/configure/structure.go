package configure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
)

// parseStructure parses a map or list in YAML 1.1. It returns false for any other text, and for a text of which the map
// or list would lose a part: a second document, a key that is there twice, or a tag that YAML does not define. Keys of
// maps become strings. Integers beyond 64 bits become a [json.Number], so that they stay exact.
func parseStructure(text string) (any, bool) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.SetStrict(true)
	var v any
	var repeated *yaml.TypeError // a key is repeated, also if a merge key adds it again
	if err := decoder.Decode(&v); err != nil && !errors.As(err, &repeated) {
		return nil, false
	}
	switch v.(type) {
	case map[any]any, []any:
	default:
		return nil, false
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, false
	}
	if repeated == nil {
		whole, err := stringKeys(v)
		if err == nil && strings.Contains(text, "!") {
			_, err = parseNodes(text)
		}
		if !errors.Is(err, errInexact) {
			return whole, err == nil
		}
	}
	whole, err := parseNodes(text)
	return whole, err == nil
}

var (
	errRepeatedKey = errors.New("a key is there twice")
	errInexact     = errors.New("a number may have lost digits")
	errTag         = errors.New("the value does not say what the tag says")
)

// stringKeys converts the keys of all maps in v to strings. It returns [errRepeatedKey] if two keys become equal, such
// as 1 and "1", and [errInexact] if v contains a number that may be an integer beyond 64 bits.
func stringKeys(v any) (any, error) {
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, element := range v {
			if _, err := stringKeys(k); err != nil {
				return nil, err
			}
			converted, err := stringKeys(element)
			if err != nil {
				return nil, err
			}
			m[keyString(k)] = converted
		}
		if len(m) < len(v) {
			return nil, errRepeatedKey
		}
		return m, nil
	case []any:
		for i := range v {
			converted, err := stringKeys(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = converted
		}
	case string:
		if !utf8.ValidString(v) { // of !!binary
			return nil, errTag
		}
	case float64:
		if inexact(v) {
			return nil, errInexact
		}
	}
	return v, nil
}

func keyString(k any) string {
	if k == nil {
		return "null"
	}
	return fmt.Sprint(k)
}

// inexact reports whether the library may have made f of an integer beyond 64 bits.
func inexact(f float64) bool { return math.Abs(f) >= 1<<63 }

var integer = regexp.MustCompile(`^[-+]?[0-9][0-9_]*$`)

// exactInteger returns the integer that a text represents in YAML 1.1, where a leading 0 means an octal number.
func exactInteger(text string) (json.Number, bool) {
	if !integer.MatchString(text) {
		return "", false
	}
	digits := strings.ReplaceAll(text, "_", "")
	n, ok := new(big.Int).SetString(digits, 0)
	if !ok {
		n, ok = new(big.Int).SetString(digits, 10)
	}
	if !ok {
		return "", false
	}
	return json.Number(n.String()), true
}

// parseNodes parses a map or list that parseStructure has parsed, from the nodes of its YAML. They show what the values
// alone don't: which keys a merge adds, tags, and the digits of numbers. The first key counts, not a merged one.
func parseNodes(text string) (any, error) {
	var document yaml3.Node
	if err := yaml3.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	return nodeValue(document.Content[0])
}

func nodeValue(n *yaml3.Node) (any, error) {
	if !hasKnownTag(n) {
		return nil, errTag
	}
	switch n.Kind {
	case yaml3.AliasNode:
		return nodeValue(n.Alias)
	case yaml3.MappingNode:
		return mapValue(n)
	case yaml3.SequenceNode:
		list := make([]any, len(n.Content))
		for i, element := range n.Content {
			v, err := nodeValue(element)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	return scalarValue(n)
}

// hasKnownTag reports whether the value of a node says everything about it. A tag such as !Ref would be lost.
func hasKnownTag(n *yaml3.Node) bool {
	switch n.ShortTag() {
	case "", "!", "!!binary", "!!bool", "!!float", "!!int", "!!map", "!!merge", "!!null", "!!omap", "!!pairs", "!!seq",
		"!!set", "!!str", "!!timestamp", "!!value":
		return true
	}
	return false
}

func mapValue(n *yaml3.Node) (any, error) {
	m := map[string]any{}
	var merged []*yaml3.Node // later ones count less
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml3.ScalarNode && key.Tag == "!!merge" {
			if value.Kind == yaml3.SequenceNode {
				merged = append(merged, value.Content...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		k, err := nodeValue(key)
		if err != nil {
			return nil, err
		}
		if _, ok := m[keyString(k)]; ok {
			return nil, errRepeatedKey
		}
		m[keyString(k)], err = nodeValue(value)
		if err != nil {
			return nil, err
		}
	}
	for _, node := range merged {
		v, err := nodeValue(node)
		if err != nil {
			return nil, err
		}
		more, ok := v.(map[string]any)
		if !ok {
			return nil, errTag
		}
		for k, v := range more {
			if _, ok := m[k]; !ok {
				m[k] = v
			}
		}
	}
	return m, nil
}

// scalarValue returns the value of a scalar in YAML 1.1.
func scalarValue(n *yaml3.Node) (any, error) {
	const quoted = yaml3.DoubleQuotedStyle | yaml3.SingleQuotedStyle | yaml3.LiteralStyle | yaml3.FoldedStyle
	text := n.Value
	switch {
	case n.Style&yaml3.TaggedStyle != 0:
		text = n.ShortTag() + " " + strconv.QuoteToASCII(n.Value)
	case n.Style&quoted != 0 || strings.Contains(text, "\n"):
		return text, nil
	}
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	switch scalar := v.(type) {
	case map[any]any, []any: // text in a flow style that means more on its own
		return n.Value, nil
	case string:
		if !utf8.ValidString(scalar) {
			return nil, errTag
		}
	case float64:
		if number, ok := exactInteger(n.Value); ok && inexact(scalar) {
			return number, nil
		}
	}
	return v, nil
}
