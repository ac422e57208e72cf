package fleet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// SelectorMatches reports whether something with these labels is selected: its label [WorkspaceLabel] is workspace, unless
// that is empty, and the selector holds for its labels. A selector that [ValidateSelector] refuses is an error.
func SelectorMatches(workspace string, s *Selector, set map[string]string) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, err
	}
	return (workspace == "" || set[WorkspaceLabel] == workspace) && selector.Matches(labels.Set(set)), nil
}
