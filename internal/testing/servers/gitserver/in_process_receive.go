package gitserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// advertise lists the references for a push.
func advertise(w io.Writer, store *filesystem.Storage) error {
	refs, err := References(store, "refs/")
	if err != nil {
		return err
	}
	adv := packp.NewAdvRefs()
	adv.Prefix = [][]byte{[]byte("# service=git-receive-pack"), pktline.Flush}
	for name, hash := range refs {
		adv.References[name.String()] = hash
	}
	for _, c := range []capability.Capability{
		capability.ReportStatus, capability.DeleteRefs, capability.Sideband64k, capability.OFSDelta,
	} {
		if err := adv.Capabilities.Set(c); err != nil {
			return err
		}
	}
	if err := adv.Capabilities.Set(capability.Agent, "git/in-process"); err != nil {
		return err
	}
	return adv.Encode(w)
}

// receive executes a push, and reports its result with the texts of git.
func receive(w io.Writer, store *filesystem.Storage, repo string, body io.Reader) error {
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(body); err != nil {
		return err
	}
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	if slices.ContainsFunc(request.Commands, func(c *packp.Command) bool { return !c.New.IsZero() }) {
		if err := packfile.UpdateObjectStorage(store, request.Packfile); err != nil {
			report.UnpackStatus = err.Error()
		}
	}
	mux := sideband.NewMuxer(sideband.Sideband64k, w)
	out := writerFunc(func(p []byte) (int, error) { return mux.WriteChannel(sideband.ProgressMessage, p) })
	stdin := ""
	for _, c := range request.Commands {
		stdin += fmt.Sprintf("%s %s %s\n", c.Old, c.New, c.Name)
	}
	accepted := runHook(out, repo, "pre-receive", stdin)
	for _, command := range request.Commands {
		var status string
		switch {
		case report.UnpackStatus != "ok":
			status = "unpacker error"
		case !accepted:
			status = "pre-receive hook declined"
		default:
			status = apply(out, store, repo, command)
		}
		report.CommandStatuses = append(report.CommandStatuses,
			&packp.CommandStatus{ReferenceName: command.Name, Status: status})
	}
	var text bytes.Buffer
	if err := report.Encode(&text); err != nil {
		return err
	}
	if _, err := mux.Write(text.Bytes()); err != nil {
		return err
	}
	return packets(w, "")
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// runHook runs a hook if the repo has it, and reports whether the hook accepts the push. The output of the hook is
// written to out.
func runHook(out io.Writer, repo, name, stdin string, arguments ...string) bool {
	hook := filepath.Join(repo, "hooks", name)
	if _, err := os.Stat(hook); err != nil {
		return true
	}
	cmd := exec.Command(hook, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdin = repo, Env(), strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		fmt.Fprintf(out, "error: the hook can't run: %v\n", err)
	}
	return err == nil
}

// apply updates a reference, and returns its status.
func apply(out io.Writer, store *filesystem.Storage, repo string, c *packp.Command) string {
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return err.Error()
	}
	if c.New.IsZero() && head.Target() == c.Name {
		return "deletion of the current branch prohibited"
	}
	if !runHook(out, repo, "update", "", c.Name.String(), c.Old.String(), c.New.String()) {
		return "hook declined"
	}
	now := plumbing.ZeroHash
	if ref, err := store.Reference(c.Name); err == nil {
		now = ref.Hash()
	}
	switch {
	case now != c.Old:
		fmt.Fprintf(out, "error: cannot lock ref '%s': is at %s but expected %s\n", c.Name, now, c.Old)
		return "failed to update ref"
	case c.New.IsZero():
		err = store.RemoveReference(c.Name)
	default:
		err = SetReference(repo, c.Name.String(), c.New.String())
	}
	if err != nil {
		fmt.Fprintf(out, "error: %v\n", err)
		return "failed to update ref"
	}
	runHook(out, repo, "post-receive", fmt.Sprintf("%s %s %s\n", c.Old, c.New, c.Name))
	return "ok"
}
