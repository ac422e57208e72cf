package configuration

import (
	"bytes"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
)

// lastState contains the private state of the rendering that was decoded last. Terraform passes the same private state
// to a refresh and the plan after it, and to a plan and the apply after it.
type lastState struct {
	mu    sync.Mutex
	data  []byte
	state *past.State
}

// DecodeState is [past.DecodeState]. The caller must not change the state. d may be nil.
func (d *Data) DecodeState(data []byte) (*past.State, error) {
	if d == nil {
		return past.DecodeState(data)
	}
	if state := d.lastState.of(data); state != nil {
		return state, nil
	}
	state, err := past.DecodeState(data)
	if err == nil {
		d.lastState.keep(data, state)
	}
	return state, err
}

// of returns the state of these data, or nil if it is not the last one.
func (l *lastState) of(data []byte) *past.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Equal(l.data, data) {
		return nil
	}
	return l.state
}

func (l *lastState) keep(data []byte, state *past.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data, l.state = data, state
}
