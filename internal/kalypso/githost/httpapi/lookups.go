package httpapi

import (
	"errors"
	"sync"
)

var errNoLogin = errors.New("the host does not name the account of the credential")

// Login returns a login that the host answered with. An empty one is an error.
func (a *API) Login(login string, err error) (string, error) {
	if err == nil && login == "" {
		err = a.Rejected("", "", errNoLogin)
	}
	return login, err
}

// Lookups caches values by name. A value is looked up once; after an error, or if it was not found, it is looked up
// again. The zero value is empty.
type Lookups[V comparable] struct {
	all sync.Map // of *lookup[V], by name
}

type lookup[V comparable] struct {
	mu    sync.Mutex
	value V
}

// Get returns the value with a name, and reads it if it is not known.
func (l *Lookups[V]) Get(name string, read func() (V, error)) (V, error) {
	stored, _ := l.all.LoadOrStore(name, &lookup[V]{})
	one, _ := stored.(*lookup[V])
	one.mu.Lock()
	defer one.mu.Unlock()
	var unknown V
	if one.value != unknown {
		return one.value, nil
	}
	value, err := read()
	if err == nil {
		one.value = value
	}
	return value, err
}
