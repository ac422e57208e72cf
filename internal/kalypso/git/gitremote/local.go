package gitremote

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// localOpener runs the git program on a local repository. Since we start the server ourselves, its options allow
// filters and any object, and disable delta search: the data only crosses a pipe.
func (c *Client) localOpener(repo giturl.URL) opener {
	return func(ctx context.Context, service, protocol string) (session, error) {
		git, err := exec.LookPath("git")
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrGitMissing, err)
		}
		dir := filepath.FromSlash(repo.Path)
		if runtime.GOOS == "windows" {
			dir = strings.TrimPrefix(dir, `\`)
		}
		cmd := exec.CommandContext(ctx, git,
			"-c", "uploadpack.allowFilter=true", "-c", "uploadpack.allowAnySHA1InWant=true",
			"-c", "pack.window=0", "-c", "pack.compression=1",
			strings.TrimPrefix(service, "git-"), dir)
		cmd.Env, cmd.SysProcAttr = localEnv(os.Environ(), protocol), ownGroup()
		// A hook that outlives its git process would keep the pipes open.
		cmd.WaitDelay = time.Second
		stderr := c.newOutput()
		cmd.Stderr = stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &pipe{in: in, out: bufio.NewReaderSize(out, 64<<10), stderr: stderr, stop: func() error {
			// Stop the output: a git process that waits for a reader would never exit.
			_ = out.Close()
			_ = cmd.Wait()
			return ctx.Err()
		}}, nil
	}
}

// localVariables are the environment variables passed to git and its hooks: those needed to find programs, settings
// and temporary folders. Others may contain the provider's secrets, such as GITHUB_TOKEN, TF_VAR_… and
// GIT_CONFIG_VALUE_…, or point git at another repository.
var localVariables = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR",
	"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "TEMP", "TMP", // Windows
}

// localEnv returns the environment of git and its hooks, with messages in English.
func localEnv(env []string, protocol string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.ContainsFunc(localVariables, func(kept string) bool { return strings.EqualFold(kept, name) })
	})
	env = append(env, "LC_ALL=C")
	if protocol != "" {
		env = append(env, "GIT_PROTOCOL="+protocol)
	}
	return env
}
