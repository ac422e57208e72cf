package giteaserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// hookScript is the Git hook pre-receive or post-receive of all repos. Gitea's own hooks start the program, which asks
// the server's internal API. Each start took more processor time than the rest of a push, so these ask the API by
// themselves, for simple names of repos and branches. Like Gitea's own, they do not ask about pushes by Gitea itself,
// such as to refs/pull. The arguments are the hook, and the server's host, port and internal token.
const hookScript = `#!/usr/bin/env bash
[ "$GITEA_INTERNAL_PUSH" = true ] || [ -z "$SSH_ORIGINAL_COMMAND" ] && exit 0
LC_ALL=C
while read -r old new ref; do
  before+=",\"$old\"" after+=",\"$new\"" refs+=",\"$ref\""
done
asked="{\"OldCommitIDs\":[${before:1}],\"NewCommitIDs\":[${after:1}],\"RefFullNames\":[${refs:1}],
  \"UserName\":\"$GITEA_PUSHER_NAME\",\"UserID\":${GITEA_PUSHER_ID:-0},\"PullRequestID\":${GITEA_PR_ID:-0},
  \"PushTrigger\":\"$GITEA_PUSH_TRIGGER\",\"GitObjectDirectory\":\"$GIT_OBJECT_DIRECTORY\",
  \"GitAlternativeObjectDirectories\":\"$GIT_ALTERNATE_OBJECT_DIRECTORIES\",
  \"GitQuarantinePath\":\"$GIT_QUARANTINE_PATH\"}"
exec 3<>/dev/tcp/%[2]s/%[3]s || exit 1
printf '%%s\r\n' "POST /api/internal/hook/%[1]s/$GITEA_REPO_USER_NAME/$GITEA_REPO_NAME HTTP/1.0" 'Host: %[2]s:%[3]s' \
  'X-Real-IP: 127.0.0.1' 'X-Gitea-Internal-Auth: Bearer %[4]s' 'Content-Type: application/json' \
  "Content-Length: ${#asked}" '' >&3
printf '%%s' "$asked" >&3
read -r _ status _ <&3
while read -r line && [ "$line" != $'\r' ]; do :; done <&3
IFS= read -r -d '' answer <&3
if [ "$status" != 200 ]; then
  [[ $answer =~ '"user_msg":"'([^\"]*) ]] && answer=${BASH_REMATCH[1]}
  printf 'error: %%s\n' "$answer" >&2
  exit 1
fi
while [[ $answer =~ '"Message":true,"Create":'[a-z]*',"Branch":"'([^\"]*)'","URL":"'([^\"]*)(.*) ]]; do
  printf '%%s: %%s\n' "${BASH_REMATCH[@]:1:2}" >&2
  answer=${BASH_REMATCH[3]}
done
`

// writeHooks writes the hooks of all repos.
func (s *Server) writeHooks() error {
	folder := filepath.Join(s.dir, "hooks")
	err := os.Mkdir(folder, 0o700)
	host, port, _ := strings.Cut(s.front.Listener.Addr().String(), ":")
	for _, name := range []string{"pre-receive", "post-receive"} {
		script := fmt.Sprintf(hookScript, name, host, port, s.internal)
		err = errors.Join(err, programs.Write(filepath.Join(folder, name), script))
	}
	return err
}
