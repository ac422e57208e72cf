package comparison

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// Hidden replaces a value that looks like a secret to the guardrail.
const Hidden = "(hidden)"

// The limits of a comparison.
const (
	maxValue       = 1000   // characters of a value
	maxSecret      = 1000   // characters after those, which may be a part of a secret
	maxDifferences = 10_000 // of config values
	maxRead        = 2000   // pairs of files whose differences are cached, since many folders contain the same pair
	maxReadSize    = 8192   // bytes of such a pair
)

// fileRead is the cache key of two compared files, after the names of their folders were hidden.
type fileRead struct {
	name     string
	contents Pair[string]
	both     bool // both sides have the file
}

// configKey identifies a difference of config values.
type configKey struct {
	name   string
	values Pair[value]
}

// value is a value of a config. The zero value means that the config lacks the key.
type value struct {
	text   string
	exists bool
}

func (v value) orNil() *string {
	if !v.exists {
		return nil
	}
	return &v.text
}

// Add compares the two contents of a file in a folder. nil means that the side lacks the file. If the contents differ
// only in the folder's names, they are equal.
func (c *Comparison) Add(f FolderPair, name string, left, right []byte) {
	of := c.namesOf(f)
	if hasMarks(left) || hasMarks(right) {
		of = Pair[names]{}
	}
	pair := fileRead{name, Pair[string]{of.Left.hide(left), of.Right.hide(right)}, left != nil && right != nil}
	if pair.both && pair.contents.Left == pair.contents.Right {
		c.secrets.add(of.Left, SecretsIn(pair.contents.Left)) // there are many such files, so none is parsed
		return
	}
	found, known := c.read[pair]
	if !known {
		found = pair.compare()
		if len(c.read) < maxRead && len(pair.contents.Left)+len(pair.contents.Right) <= maxReadSize {
			c.read[pair] = found
		}
	}
	c.secrets.add(of.Left, found.secrets.Left)
	c.secrets.add(of.Right, found.secrets.Right)
	for _, key := range found.keys {
		if !c.ignored(f.Target, key.name) {
			key.values.Left = of.Left.show(key.name, key.values.Left)
			key.values.Right = of.Right.show(key.name, key.values.Right)
			if folders, known := c.configs[key]; known || len(c.configs) < maxDifferences {
				c.configs[key] = append(folders, f.Folder)
			} else {
				c.Unlisted++
			}
		}
	}
	if found.other {
		c.files[name] = append(c.files[name], f.Folder)
	}
}

// fileDifference is the difference of two contents of a file.
type fileDifference struct {
	keys    []configKey // the keys whose values differ
	other   bool        // not only values differ
	secrets Pair[[]string]
}

// compare compares two different contents. If only one side has the file, all of it differs.
func (f fileRead) compare() (d fileDifference) {
	left, right := readConfig(f.name, f.contents.Left), readConfig(f.name, f.contents.Right)
	d.secrets = Pair[[]string]{left.secrets(), right.secrets()}
	if !f.both {
		d.other = true
		return d
	}
	both := map[string]string{}
	maps.Copy(both, left.values)
	maps.Copy(both, right.values)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		values := Pair[value]{left.value(key), right.value(key)}
		if values.Left != values.Right {
			d.keys = append(d.keys, configKey{key, values})
		}
	}
	d.other = len(d.keys) == 0 || left.rest != right.rest
	return d
}

// show returns a value with the side's own names, and without secrets. It cuts what is certainly not shown, see
// [Comparison.Finish].
func (n names) show(key string, v value) value {
	if !v.exists {
		return v
	}
	v.text = n.restore(v.text)
	if secretscan.Find(key, v.text) != "" {
		return value{Hidden, true}
	}
	v.text = cut(v.text, maxValue+maxSecret)
	for unescaped := range unescaped(v.text) {
		if secretscan.Find(key, unescaped) != "" {
			return value{Hidden, true}
		}
	}
	return v
}

func (c config) value(key string) value {
	text, there := c.values[key]
	return value{text, there}
}
