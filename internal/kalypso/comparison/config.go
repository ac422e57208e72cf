package comparison

import (
	"errors"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// config contains the values in a file, by key, and the rest of the file. If the file is not a config, it has no
// values.
type config struct {
	values map[string]string
	rest   string
}

// maxParsed limits the size of a file that is read as a config, in bytes, as Kubernetes limits a ConfigMap.
const maxParsed = 1 << 20

// maxRest limits the size of the rest of a file, in bytes. A file that is indented again can be much longer: 20 kB of
// nested keys "? ? ?" have 200 MB with their indents.
const maxRest = 8 << 20

var errLongRest = errors.New("the rest of the file is too long")

// restText is the rest of a file, which has at most [maxRest] bytes.
type restText struct{ strings.Builder }

// Write implements [io.Writer].
func (r *restText) Write(text []byte) (int, error) {
	if r.Len()+len(text) > maxRest {
		return 0, errLongRest
	}
	return r.Builder.Write(text)
}

// readConfig reads a file of a deployment target: the data of its ConfigMaps, or the variables of a shell file.
func readConfig(name, content string) config {
	c := config{values: map[string]string{}}
	var ok bool
	switch {
	case len(content) > maxParsed:
	case path.Ext(name) == "."+fleet.ContentShell:
		ok = c.readVariables(content)
	default:
		ok = c.readConfigMaps(content)
	}
	if !ok || len(c.values) == 0 {
		return config{rest: content}
	}
	return c
}

// readConfigMaps reads the data of ConfigMaps. It returns false if a document can't be read, or if the rest is too
// long. It does not expand aliases, so that the values are not larger than the content.
func (c *config) readConfigMaps(content string) bool {
	var rest restText
	for d := yaml.NewDecoder(strings.NewReader(content)); ; {
		var document yaml.Node
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			c.rest = rest.String()
			return true
		}
		if err != nil {
			return false
		}
		c.takeData(&document)
		rest.WriteString("---\n")
		written := yaml.NewEncoder(&rest)
		if err := errors.Join(written.Encode(&document), written.Close()); err != nil {
			return false
		}
	}
}

// takeData moves the data of a ConfigMap to the values.
func (c *config) takeData(document *yaml.Node) {
	if len(document.Content) != 1 {
		return
	}
	object := document.Content[0]
	kind, data := field(object, "kind"), field(object, "data")
	if kind == nil || kind.Value != "ConfigMap" || data == nil {
		return
	}
	var others []*yaml.Node
	for i := 0; i+1 < len(data.Content); i += 2 {
		key, value := data.Content[i], data.Content[i+1]
		if _, twice := c.values[key.Value]; twice || key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			others = append(others, key, value)
			continue
		}
		c.values[key.Value] = value.Value
	}
	data.Content = others
}

// field returns a field of a YAML mapping, or nil.
func field(object *yaml.Node, name string) *yaml.Node {
	for i := 0; object.Kind == yaml.MappingNode && i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

// readVariables reads lines such as export REGION="west".
func (c *config) readVariables(content string) bool {
	var rest strings.Builder
	for line := range strings.Lines(content) {
		text := strings.TrimPrefix(strings.TrimSpace(line), "export ")
		key, value, assigned := strings.Cut(text, "=")
		if _, twice := c.values[key]; twice || !assigned || key == "" || strings.ContainsAny(key, " \t#$\"'`(") {
			rest.WriteString(line)
			continue
		}
		if n := len(value); n > 1 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
			value = value[1 : n-1]
		}
		c.values[key] = value
	}
	c.rest = rest.String()
	return true
}
