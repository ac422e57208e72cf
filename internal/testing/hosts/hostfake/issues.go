package hostfake

import (
	"slices"
	"sync"
)

// Issue is an issue of a fake.
type Issue struct {
	Number      int
	Title, Body string
	Closed      bool
	Labels      []string
	Comments    []string
}

// Issues are the issues of a repo of a fake.
type Issues struct {
	mu  sync.Mutex
	all []Issue // oldest first
}

// Add adds an issue, and returns it.
func (is *Issues) Add(number int, title, body string, labels []string) Issue {
	is.mu.Lock()
	defer is.mu.Unlock()
	one := Issue{Number: number, Title: title, Body: body, Labels: labels}
	is.all = append(is.all, one)
	return one
}

// Update changes the issue of a number, and returns it. ok is false if there is none.
func (is *Issues) Update(number int, change func(*Issue)) (changed Issue, ok bool) {
	is.mu.Lock()
	defer is.mu.Unlock()
	i := slices.IndexFunc(is.all, func(one Issue) bool { return one.Number == number })
	if i < 0 {
		return Issue{}, false
	}
	change(&is.all[i])
	return is.all[i], true
}

// All returns the issues, oldest first.
func (is *Issues) All() []Issue {
	is.mu.Lock()
	defer is.mu.Unlock()
	return slices.Clone(is.all)
}

// Newest returns the issues, newest first.
func (is *Issues) Newest() []Issue {
	all := is.All()
	slices.Reverse(all)
	return all
}
