package hostfake

import "slices"

// Issue is an issue of a fake.
type Issue struct {
	Number      int
	Title, Body string
	Closed      bool
	Labels      []string
	Comments    []string
}

// Issues are the issues of a repo of a fake, oldest first. The fake locks them.
type Issues struct{ All []*Issue }

// Open adds an issue.
func (is *Issues) Open(number int, title, body string, labels []string) *Issue {
	one := &Issue{Number: number, Title: title, Body: body, Labels: labels}
	is.All = append(is.All, one)
	return one
}

// Find returns the issue of a number, or nil.
func (is *Issues) Find(number int) *Issue {
	if i := slices.IndexFunc(is.All, func(one *Issue) bool { return one.Number == number }); i >= 0 {
		return is.All[i]
	}
	return nil
}

// Newest returns the issues, newest first.
func (is *Issues) Newest() []*Issue {
	all := slices.Clone(is.All)
	slices.Reverse(all)
	return all
}

// Copy returns copies of the issues, for tests.
func (is *Issues) Copy() []Issue {
	var all []Issue
	for _, one := range is.All {
		copied := *one
		copied.Labels, copied.Comments = slices.Clone(one.Labels), slices.Clone(one.Comments)
		all = append(all, copied)
	}
	return all
}
