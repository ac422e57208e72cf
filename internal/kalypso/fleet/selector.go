package fleet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// SelectorMatches reports whether s matches these labels. If workspace is not empty, the label [WorkspaceLabel] must
// equal it too. It returns an error if the selector is invalid; see [ValidateSelector].
func SelectorMatches(workspace string, s *Selector, set map[string]string) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, err
	}
	return (workspace == "" || set[WorkspaceLabel] == workspace) && selector.Matches(labels.Set(set)), nil
}
