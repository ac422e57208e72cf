package render

import (
	"sync"
)

// piece appends the result of p. keep means that p will be rendered again, so it is worth caching.
func (w *worker) piece(p *piece, s *assignmentInput, keep bool) error {
	text := p.text
	switch {
	case p.namespace:
		text = s.data.Namespace
	case p.root != nil:
		var err error
		text, err = w.shared(p, s, keep)
		if err != nil {
			return err
		}
	}
	if err := w.executor.fits("the file renders to", int64(w.buffer.content.Len()-w.buffer.start+len(text))); err != nil {
		return err
	}
	w.buffer.content.WriteString(text)
	return nil
}

// shared returns the result of p. It caches the result if p depends only on the values, the references, the
// cluster type or the target.
func (w *worker) shared(p *piece, s *assignmentInput, keep bool) (string, error) {
	if s.templates && p.encodes != 0 && p.scope&ofValues != 0 {
		values, err := w.renderedValues(p, s)
		if err != nil {
			return "", err
		}
		if values != nil {
			data := s.data
			data.ConfigData = values
			return w.executor.execute(p, &data, keep)
		}
	}
	var kept *sync.Map
	switch {
	case keep && p.scope == ofValues && s.values.Shared:
		kept = &w.renderer.cacheOf(s.values).texts
	case keep && p.scope == ofSecrets && s.secrets.Shared:
		kept = &w.renderer.cacheOf(s.secrets).texts
	case keep && p.scope&^ofClusterType == 0:
		kept = &s.ofType.cache
	case keep && p.scope == ofTarget && s.ofTarget.shared:
		kept = &s.ofTarget.cache
	default:
		if p.entrywise != nil && keep && s.base != nil {
			if text, ok := w.entries(p, s); ok {
				return text, nil
			}
		}
		return w.executor.execute(p, &s.data, keep)
	}
	if found, ok := kept.Load(p); ok {
		return found.(string), nil //nolint:forcetypeassert // nothing else is stored
	}
	text, err := w.executor.execute(p, &s.data, keep)
	if err == nil {
		kept.Store(p, text)
	}
	return text, err
}
