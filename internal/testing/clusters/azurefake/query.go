package azurefake

import (
	"regexp"
	"slices"
	"strings"
)

var (
	whereType = regexp.MustCompile(`(?m)^\| where type (?:==|=~|in~) (.*)$`)
	project   = regexp.MustCompile(`(?m)^\| project (.*)$`)
	quoted    = regexp.MustCompile(`'([^']*)'`)
)

// answerTo returns the rows that a query selects, with the columns that it projects. It does so only for rows that are
// whole resources, which have a type. It returns all other rows unchanged.
func answerTo(query string, rows []any) (all []any) {
	var wanted []string
	if types := whereType.FindStringSubmatch(query); types != nil {
		for _, name := range quoted.FindAllStringSubmatch(types[1], -1) {
			wanted = append(wanted, strings.ToLower(name[1]))
		}
	}
	for _, row := range rows {
		resource, _ := row.(map[string]any)
		kind, whole := resource["type"].(string)
		if !whole {
			all = append(all, row)
			continue
		}
		if !slices.Contains(wanted, strings.ToLower(kind)) {
			continue
		}
		columns := map[string]any{}
		for column := range strings.SplitSeq(project.FindStringSubmatch(query)[1], ",") {
			name, path, computed := strings.Cut(strings.TrimSpace(column), " = ")
			if !computed {
				path = name
			}
			columns[name] = field(resource, strings.Split(path, "."))
		}
		all = append(all, columns)
	}
	return all
}

// field returns a nested field, or nil.
func field(of any, path []string) any {
	for _, name := range path {
		object, _ := of.(map[string]any)
		of = object[name]
	}
	return of
}
