package gitea

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// hookScript is the Git hook pre-receive or post-receive of all repos. Gitea's own hooks start the program, which asks
// the server. Each start took more processor time than the rest of a push, so these ask the server by themselves, see
// [Server.serveHook]. Like Gitea's own, they do not ask about pushes by Gitea itself, such as to refs/pull.
const hookScript = `#!/usr/bin/env bash
[ "$GITEA_INTERNAL_PUSH" = true ] || [ -z "$SSH_ORIGINAL_COMMAND" ] && exit 0
LC_ALL=C
IFS= read -r -d '' refs
exec 3<>/dev/tcp/%[2]s || exit 1
{
  printf 'POST /%[1]s HTTP/1.0\r\nHost: %[3]s\r\nContent-Length: %%d\r\n' "${#refs}"
  for name in GITEA_REPO_USER_NAME GITEA_REPO_NAME GITEA_PUSHER_NAME GITEA_PUSHER_ID GITEA_PR_ID GITEA_PUSH_TRIGGER \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY GIT_QUARANTINE_PATH; do
    printf '%%s: %%s\r\n' "${name//_/-}" "${!name}"
  done
  printf '\r\n%%s' "$refs"
} >&3
read -r _ status _ <&3
while read -r line && [ "$line" != $'\r' ]; do :; done <&3
while IFS= read -r line; do printf '%%s\n' "$line" >&2; done <&3
[ "$status" = 200 ]
`

// writeHooks writes the hooks of all repos.
func (s *Server) writeHooks() error {
	folder := filepath.Join(s.dir, "hooks")
	err := os.Mkdir(folder, 0o700)
	address := s.hooks.Listener.Addr().String()
	for _, name := range []string{"pre-receive", "post-receive"} {
		script := fmt.Sprintf(hookScript, name, strings.Replace(address, ":", "/", 1), address)
		err = errors.Join(err, programs.Write(filepath.Join(folder, name), script))
	}
	return err
}

// serveHook asks Gitea whether it accepts a push, as its own hooks do. The request's body contains the lines that Git
// passes to the hook. The answer is the hook's output. Any status but 200 refuses the push.
func (s *Server) serveHook(w http.ResponseWriter, req *http.Request) {
	lines, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(req.Header.Get(name), 10, 64)
		return n
	}
	var before, after, refs []string
	for line := range strings.Lines(string(lines)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			before, after, refs = append(before, fields[0]), append(after, fields[1]), append(refs, fields[2])
		}
	}
	asked, err := json.Marshal(object{
		"OldCommitIDs": before, "NewCommitIDs": after, "RefFullNames": refs,
		"UserName": req.Header.Get("GITEA-PUSHER-NAME"), "UserID": number("GITEA-PUSHER-ID"),
		"PullRequestID": number("GITEA-PR-ID"), "PushTrigger": req.Header.Get("GITEA-PUSH-TRIGGER"),
		"GitAlternativeObjectDirectories": req.Header.Get("GIT-ALTERNATE-OBJECT-DIRECTORIES"),
		"GitObjectDirectory":              req.Header.Get("GIT-OBJECT-DIRECTORY"),
		"GitQuarantinePath":               req.Header.Get("GIT-QUARANTINE-PATH"),
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	said, err := s.askInternally(req.URL.Path+"/"+url.PathEscape(req.Header.Get("GITEA-REPO-USER-NAME"))+"/"+
		url.PathEscape(req.Header.Get("GITEA-REPO-NAME")), asked)
	if err != nil {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "error: %v\n", err)
		return
	}
	for _, result := range said.Results {
		if result.Message {
			fmt.Fprintf(w, "%s: %s\n", result.Branch, result.URL)
		}
	}
}

// hookAnswer is Gitea's answer after a push.
type hookAnswer struct {
	Results []struct {
		Message     bool
		Branch, URL string
	}
}

// askInternally sends a request to the API that Gitea's own hooks use. The error is for the person who pushed.
func (s *Server) askInternally(path string, asked []byte) (said hookAnswer, err error) {
	req, err := http.NewRequest(http.MethodPost, s.URL+"/api/internal/hook"+path, bytes.NewReader(asked))
	if err != nil {
		return said, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Real-IP", "127.0.0.1")
	req.Header.Set("X-Gitea-Internal-Auth", "Bearer "+s.internal)
	resp, err := s.direct.Do(req)
	if err != nil {
		return said, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return said, err
	case resp.StatusCode != http.StatusOK:
		var refused struct {
			Message string `json:"user_msg"`
		}
		if json.Unmarshal(answer, &refused) != nil || refused.Message == "" {
			return said, fmt.Errorf("status %d: %s", resp.StatusCode, answer)
		}
		return said, errors.New(refused.Message)
	case path[:5] == "/post":
		return said, json.Unmarshal(answer, &said)
	}
	return said, nil
}
