package gitremote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// PushRequest moves one branch from one commit to another, whether or not that is on top of it.
type PushRequest struct {
	Branch plumbing.ReferenceName
	Old    plumbing.Hash // where the branch must be; zero: it must not exist
	New    plumbing.Hash // zero: the branch goes
	Pack   io.Reader     // with what New has and the server has not; nil where the branch goes
	Size   int64         // of Pack, bytes; negative: it is not known
}

// writer is a [Writer] that speaks the Git protocol.
type writer struct {
	r    *Remote
	ctx  context.Context
	s    session
	refs *packp.AdvRefs
	sent bool
}

// Writer implements [Repository].
func (r *Remote) Writer(ctx context.Context) (Writer, error) {
	w, err := r.writer(ctx)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (r *Remote) writer(ctx context.Context) (*writer, error) {
	w := &writer{r: r, ctx: ctx}
	if err := r.retry(ctx, w.start); err != nil {
		return nil, r.fail(ctx, "push to", err)
	}
	return w, nil
}

func (w *writer) start() error {
	s, err := w.r.open(w.ctx, receivePack, "")
	if err != nil {
		return err
	}
	refs, err := readRefs(s.greeting(), w.r.client.maxRefList)
	if err != nil {
		err = s.explain(err)
		_ = s.Close()
		return err
	}
	w.s, w.refs = s, refs
	return nil
}

// Close implements [Writer].
func (w *writer) Close() { _ = w.s.Close() }

// Push implements [Writer].
func (w *writer) Push(req PushRequest) error {
	if err := w.push(req); err != nil {
		return w.r.fail(w.ctx, "push to", err)
	}
	return nil
}

// Sent implements [Writer].
func (w *writer) Sent() bool { return w.sent }

func (w *writer) push(req PushRequest) error {
	s, refs := w.s, w.refs
	// A reference that is not listed may be hidden; the server decides then.
	if at, ok := refs.References[req.Branch.String()]; ok && at != req.Old {
		return fmt.Errorf("%w: it is at %s, not at %s", ErrBranchMoved, at, req.Old)
	}
	if req.Old.IsZero() {
		if err := crossing(refs.References, req.Branch); err != nil {
			return err
		}
	}
	for _, c := range []capability.Capability{capability.ReportStatus, capability.Sideband64k} {
		if !refs.Capabilities.Supports(c) {
			return fmt.Errorf("the server does not report what becomes of a push (no %s)", c)
		}
	}
	update := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	_ = update.Capabilities.Set(capability.Sideband64k)
	update.Commands = []*packp.Command{{Name: req.Branch, Old: req.Old, New: req.New}}
	var head bytes.Buffer
	if err := update.Encode(&head); err != nil {
		return err
	}
	size := req.Size
	if size >= 0 {
		size += int64(head.Len())
	}
	var request io.Reader = &head
	if req.Pack != nil {
		request = io.MultiReader(&head, req.Pack)
	}
	w.sent = true
	answer, err := s.exchange(request, size, true)
	if err != nil {
		return s.explain(err)
	}
	demux := newSideband(answer)
	report := packp.NewReportStatus()
	bounded := &boundedReader{r: demux, left: maxReport, err: errors.New("the report on the push is too long")}
	if err := report.Decode(bounded); err != nil {
		if lines := demux.said.lines(); len(lines) > 0 {
			err = fmt.Errorf("%s: %w", strings.Join(lines, "; "), err)
		}
		return s.explain(err)
	}
	// Hooks that run after the update still print; a server without a reader
	// would stop them.
	_, _ = io.Copy(io.Discard, demux)
	return outcome(report, req.Branch, demux.said.lines())
}

// maxReport is the size of the longest report on a push, which is on one branch, bytes.
const maxReport = 1 << 20

// crossing refuses a new branch whose name would be a folder of another branch's, or the other way round: Git keeps
// branches like files, and its servers say no more of it than that the branch could not be locked.
func crossing(refs map[string]plumbing.Hash, branch plumbing.ReferenceName) error {
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if strings.HasPrefix(name, branch.String()+"/") || strings.HasPrefix(branch.String(), name+"/") {
			return &RejectedError{Branch: branch.Short(), Reason: fmt.Sprintf(
				"the repo has the branch %q, and Git can't hold %q beside it", plumbing.ReferenceName(name).Short(), branch.Short())}
		}
	}
	return nil
}

// outcome reads the status report of a push.
func outcome(report *packp.ReportStatus, branch plumbing.ReferenceName, said []string) error {
	reason := ""
	if report.UnpackStatus != "ok" {
		reason = "unpack " + report.UnpackStatus
	}
	for _, c := range report.CommandStatuses {
		if c.Status != "ok" {
			reason = c.Status
		}
	}
	if reason == "" {
		return nil
	}
	if strings.Contains(reason, "hook declined") { // git's own reason decides first: a hook may say anything
		return &RejectedError{Branch: branch.Short(), Reason: reason, Output: said}
	}
	texts := append([]string{reason}, said...)
	for _, kind := range []error{ErrServerFull, ErrBranchLocked, ErrBranchMoved} {
		for _, text := range texts {
			if errors.Is(kindOf(errors.New(text)), kind) {
				return fmt.Errorf("%w: %s", kind, strings.Join(texts, "; "))
			}
		}
	}
	return &RejectedError{Branch: branch.Short(), Reason: reason, Output: said}
}
