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
)

// localOpener runs the git program on a repository of this machine. As the
// server is our own process, it is told to filter, to hand out any object, and
// not to look for deltas: what it sends crosses a pipe.
func localOpener(repo Location) opener {
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
		cmd.Env = localEnv(os.Environ(), protocol)
		// A hook that outlives its git would hold the pipes open.
		cmd.WaitDelay = time.Second
		stderr := &words{}
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
		return &pipe{in: in, out: bufio.NewReaderSize(out, 64<<10), stderr: stderr, end: func() error {
			// What is still being sent is no longer wanted, and a git that
			// waits for a reader would never end.
			_ = out.Close()
			_ = cmd.Wait()
			return ctx.Err()
		}}, nil
	}
}

// localEnv is the environment without what would point git at another
// repository, and with messages in English.
func localEnv(env []string, protocol string) []string {
	local := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_PROTOCOL", "LC_ALL", "LANGUAGE",
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
	env = append(env, "LC_ALL=C")
	if protocol != "" {
		env = append(env, "GIT_PROTOCOL="+protocol)
	}
	return env
}
