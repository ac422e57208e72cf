package httpapi

import "sync"

// Lookups caches values by name. A value is looked up once; after an error, or if it was not found, it is looked up
// again. The zero value is empty.
type Lookups[V comparable] struct {
	mu  sync.Mutex
	all map[string]*lookup[V]
}

type lookup[V comparable] struct {
	mu    sync.Mutex
	value V
}

// Get returns the value with a name, and reads it if it is not known.
func (l *Lookups[V]) Get(name string, read func() (V, error)) (V, error) {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]*lookup[V]{}
	}
	if l.all[name] == nil {
		l.all[name] = &lookup[V]{}
	}
	one := l.all[name]
	l.mu.Unlock()
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
