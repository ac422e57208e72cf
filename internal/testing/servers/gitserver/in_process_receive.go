package gitserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// advertise lists the references for a push.
func advertise(w *bytes.Buffer, store *filesystem.Storage) error {
	refs, err := References(store, "refs/")
	if err != nil {
		return err
	}
	lines := []string{"# service=git-receive-pack\n", ""}
	capabilities := "\x00report-status delete-refs side-band-64k ofs-delta agent=git/in-process"
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		lines = append(lines, refs[name].String()+" "+name.String()+capabilities+"\n")
		capabilities = ""
	}
	if len(refs) == 0 {
		lines = append(lines, plumbing.ZeroHash.String()+" capabilities^{}"+capabilities+"\n")
	}
	packets(w, append(lines, "")...)
	return nil
}

// receive executes a push, and reports its result with the texts of git.
func receive(w *bytes.Buffer, store *filesystem.Storage, repo string, body io.Reader) error {
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(body); err != nil {
		return err
	}
	unpacked := "ok"
	if slices.ContainsFunc(request.Commands, func(c *packp.Command) bool { return !c.New.IsZero() }) {
		if err := packfile.UpdateObjectStorage(store, request.Packfile); err != nil {
			unpacked = err.Error()
		}
	}
	var out bytes.Buffer
	stdin := ""
	for _, c := range request.Commands {
		stdin += fmt.Sprintf("%s %s %s\n", c.Old, c.New, c.Name)
	}
	accepted := runHook(&out, repo, "pre-receive", stdin)
	results := []string{"unpack " + unpacked}
	for _, command := range request.Commands {
		var refused string
		switch {
		case unpacked != "ok":
			refused = "unpacker error"
		case !accepted:
			refused = "pre-receive hook declined"
		default:
			refused = apply(&out, store, repo, command)
		}
		if refused == "" {
			results = append(results, "ok "+command.Name.String())
		} else {
			results = append(results, "ng "+command.Name.String()+" "+refused)
		}
	}
	for chunk := range slices.Chunk(out.Bytes(), 32<<10) {
		packets(w, "\x02"+string(chunk))
	}
	w.WriteString(report(results...))
	return nil
}

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

// apply updates a reference, or returns the reason why it does not.
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
	return ""
}
