package status

import (
	"fmt"
	"regexp"
)

// importIDForm is the form of an import ID. Repos may contain an @, contexts a #.
const importIDForm = "<repo>@<commit>#<context>"

var importID = regexp.MustCompile(`^(.+?)@([0-9a-f]{40})#(.+)$`)

// ImportID returns the ID that imports a status: <repo>@<commit>#<context>.
func ImportID(repo, commit, context string) string {
	return fmt.Sprintf("%s@%s#%s", repo, commit, context)
}

// ParseImportID parses what [ImportID] returns.
func ParseImportID(id string) (repo, commit, context string, err error) {
	parts := importID.FindStringSubmatch(id)
	if parts == nil {
		return "", "", "", fmt.Errorf("%q is not of the form %s, with the commit's full hash", id, importIDForm)
	}
	return parts[1], parts[2], parts[3], nil
}
