package gitremote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// PushRequest moves one branch from one commit to another, fast-forward or not.
type PushRequest struct {
	Branch plumbing.ReferenceName
	Old    plumbing.Hash // expected head; zero: the branch must not exist
	New    plumbing.Hash // zero: delete the branch
	Pack   io.Reader     // the objects that the server lacks; nil for a deletion
	Size   int64         // of Pack, in bytes; negative: unknown
}

// Writer is a session for one push. The server has already listed its references. It is bound to the context that
// opened it.
type Writer struct {
	r    *Remote
	ctx  context.Context
	s    session
	refs *packp.AdvRefs
	sent bool
}

// Writer starts a session for a push. This takes at least one round trip, so call it while the pack is being prepared.
// The caller must close it.
func (r *Remote) Writer(ctx context.Context) (*Writer, error) {
	w := &Writer{r: r, ctx: ctx}
	if err := r.retry(ctx, w.start); err != nil {
		return nil, r.wrapError(ctx, "push to", err)
	}
	return w, nil
}

func (w *Writer) start() error {
	s, err := w.r.open(w.ctx, receivePack, "")
	if err != nil {
		return err
	}
	refs, err := readRefs(s.advertised(), w.r.client.settings.limits.maxRefList)
	if err != nil {
		err = s.explain(err)
		_ = s.Close()
		return err
	}
	w.s, w.refs = s, refs
	return nil
}

// Close ends the session.
func (w *Writer) Close() { _ = w.s.Close() }

// Push sends the pack and moves the branch. If the branch is not at the expected head, the error is [ErrBranchMoved];
// other rejections are [ErrRejected] with the server's output. A Writer pushes only once.
//
// If Sent returns true, the caller must read the branch, whatever Push returns: an answer can get lost, and a server
// can report success by mistake.
func (w *Writer) Push(req PushRequest) error {
	return w.r.wrapError(w.ctx, "push to", w.push(req))
}

// Sent reports whether the push was sent, so that the server may have accepted it.
func (w *Writer) Sent() bool { return w.sent }

func (w *Writer) push(req PushRequest) error {
	s, refs := w.s, w.refs
	// The server may hide references, so a missing one is no error here; the server rejects the push if needed.
	if at, ok := refs.References[req.Branch.String()]; ok && at != req.Old {
		return fmt.Errorf("%w: it is at %s, not at %s", ErrBranchMoved, at, req.Old)
	}
	if req.Old.IsZero() {
		if err := checkNameConflict(refs.References, req.Branch); err != nil {
			return err
		}
	}
	for _, c := range []capability.Capability{capability.ReportStatus, capability.Sideband64k} {
		if !refs.Capabilities.Supports(c) {
			return fmt.Errorf("the server does not report the result of a push (no %s)", c)
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
	report, said, err := readReport(newSideband(answer, math.MaxInt64, w.r.client.newOutput()))
	if err != nil {
		return s.explain(err)
	}
	return pushError(report, said)
}

// readReport reads the status report of a push, and what the server printed meanwhile.
func readReport(answer *sideband) (report *packp.ReportStatus, said []string, err error) {
	report = packp.NewReportStatus()
	bounded := &boundedReader{r: answer, remaining: maxReport, err: errors.New("the report on the push is too long")}
	if err := report.Decode(bounded); err != nil {
		if lines := answer.output.lines(); len(lines) > 0 {
			err = fmt.Errorf("%s: %w", strings.Join(lines, "; "), err)
		}
		return nil, nil, err
	}
	// Read to the end: hooks that run after the update still print, and would fail without a reader.
	_, _ = io.Copy(io.Discard, answer)
	return report, answer.output.lines(), nil
}

// maxReport bounds the status report of a push, in bytes. It covers one branch.
const maxReport = 1 << 20

// checkNameConflict rejects a new branch that would be a folder of another branch, or lie in one. Git stores branches
// like files, and servers only report that the branch could not be locked.
func checkNameConflict(refs map[string]plumbing.Hash, branch plumbing.ReferenceName) error {
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if strings.HasPrefix(name, branch.String()+"/") || strings.HasPrefix(branch.String(), name+"/") {
			return &RejectedError{Reason: fmt.Sprintf(
				"the repo has the branch %q, and Git does not allow %q next to it", plumbing.ReferenceName(name).Short(),
				branch.Short())}
		}
	}
	return nil
}

// pushError returns the error in the status report of a push.
func pushError(report *packp.ReportStatus, output []string) error {
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
	if strings.Contains(reason, "hook declined") { // first git's own reason: a hook may print anything
		return &RejectedError{Reason: reason, Output: output}
	}
	texts := append([]string{reason}, output...)
	if kind := knownKind(reason); slices.Contains([]error{ErrUnauthorized, ErrRateLimited, ErrMaintenance}, kind) {
		return fmt.Errorf("%w: %s", kind, strings.Join(texts, "; "))
	}
	for _, kind := range []error{ErrServerFull, ErrBranchLocked, ErrBranchMoved} {
		for _, text := range texts {
			if errors.Is(kindOf(errors.New(text)), kind) {
				return fmt.Errorf("%w: %s", kind, strings.Join(texts, "; "))
			}
		}
	}
	return &RejectedError{Reason: reason, Output: output}
}
