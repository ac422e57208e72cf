package hostfake

import (
	"slices"
	"strings"
	"sync"
)

// Issue is an issue of a fake.
type Issue struct {
	Number      int
	Title, Body string
	Author      string // login
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
func (is *Issues) Add(one Issue) Issue {
	is.mu.Lock()
	defer is.mu.Unlock()
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

// Newest returns the issues that an author opened, newest first; "": any author.
func (is *Issues) Newest(author string) []Issue {
	all := slices.DeleteFunc(is.All(), func(one Issue) bool {
		return author != "" && !strings.EqualFold(one.Author, author)
	})
	slices.Reverse(all)
	return all
}
