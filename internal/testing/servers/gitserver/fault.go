package gitserver

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// Fault replaces git's answer to a request over HTTP. The zero value breaks the connection.
type Fault struct {
	Service string // git-upload-pack or git-receive-pack; empty matches both
	Method  string // GET for the advertisement, POST for other requests; empty matches both
	Skip    int    // the number of matching requests that git answers before the fault
	Times   int    // the number of requests with the fault: 0 means one, a negative number all

	Serve        bool        // git handles the request, but its answer is lost
	BeforeAnswer func()      // is called before the answer; may be nil
	Hang         bool        // the server does not answer until the client gives up
	Cut          int         // the number of bytes of git's answer that are sent before the connection breaks
	Status       int         // the status of the answer; if it is 0, the connection breaks
	Header       http.Header // the header of the answer
	Body         []byte      // the body of the answer
}

// Fail adds a fault, which takes precedence over earlier ones.
func (s *Server) Fail(f Fault) {
	f.Times = cmp.Or(f.Times, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append([]*Fault{&f}, s.faults...)
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// DropAnswer breaks the connection of the next push after the server has accepted the push.
func (s *Server) DropAnswer() {
	s.Fail(Fault{Service: "git-receive-pack", Method: http.MethodPost, Serve: true})
}

// fault returns the fault for a request, or nil.
func (s *Server) fault(req *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Service != "" && f.Service != service(req) || f.Method != "" && f.Method != req.Method || f.Times == 0 {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.Times--
		return f
	}
	return nil
}

func (f *Fault) answer(w http.ResponseWriter, req *http.Request, git http.Handler) {
	if f.Serve {
		git.ServeHTTP(httptest.NewRecorder(), req)
	}
	if f.BeforeAnswer != nil {
		f.BeforeAnswer()
	}
	switch {
	case f.Hang:
		_, _ = io.Copy(io.Discard, req.Body) // otherwise the server would not notice the client's disconnect
		<-req.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Cut > 0:
		whole := httptest.NewRecorder()
		git.ServeHTTP(whole, req)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
		_, _ = w.Write(whole.Body.Bytes()[:min(f.Cut, whole.Body.Len())])
		_ = http.NewResponseController(w).Flush()
	}
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(f.Body)
}

// SSHFault replaces the run of git for a command over SSH. The zero value breaks the connection.
type SSHFault struct {
	Service string // git-upload-pack or git-receive-pack; empty matches both
	Times   int    // the number of requests with the fault: 0 means one, a negative number all

	Output []byte // the standard output of a command that succeeds
	Stderr string // the standard error of a command that fails
}

// Fail makes the next commands fail, and removes an earlier fault.
func (s *SSHServer) Fail(t testing.TB, f SSHFault) {
	t.Helper()
	act := "kill -9 $PPID; exit 1"
	switch {
	case f.Stderr != "":
		act = "cat 'DIR/fault-text' >&2; exit 128"
	case f.Output != nil:
		act = "cat 'DIR/fault-text'; exit 0"
	}
	for name, text := range map[string]string{
		"fault-text":  f.Stderr + string(f.Output),
		"fault-times": strconv.Itoa(cmp.Or(f.Times, 1)),
		"fault":       strings.ReplaceAll(fmt.Sprintf(faultScript, f.Service, act), "DIR", s.dir),
	} {
		programs.WriteFile(t, filepath.Join(s.dir, name), text)
	}
}

// loginScript is the command that sshd runs for every login. It runs the fault, or the requested command.
const loginScript = `#!/bin/sh
GITSERVER_SSHD=$PPID; export GITSERVER_SSHD
[ ! -f 'DIR/fault' ] || . 'DIR/fault'
exec sh -c "$SSH_ORIGINAL_COMMAND"
`

// faultScript acts if the requested command is of a service, and if it has not acted as often as it shall.
const faultScript = `read -r times <'DIR/fault-times' || true
case "$SSH_ORIGINAL_COMMAND" in "%s"*)
	if [ "$times" -ne 0 ]; then
		echo $((times - 1)) >'DIR/fault-times'
		%s
	fi ;;
esac
`

func installFaults(t testing.TB, dir string) (forceCommand string) {
	t.Helper()
	script := filepath.Join(dir, "login")
	programs.WriteFile(t, script, strings.ReplaceAll(loginScript, "DIR", dir))
	return "ForceCommand /bin/sh " + script
}

// DropAnswer breaks the connections of all pushes to a repository after the server has accepted them.
func (s *SSHServer) DropAnswer(t testing.TB, repo string) {
	t.Helper()
	writeHook(t, repo, "reference-transaction", "[ \"$1\" = committed ] && kill -9 \"$GITSERVER_SSHD\"; exit 0\n")
}

// Packet returns a packet of the Git protocol, for faults.
func Packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// cutPacket returns the text of the packet with which a text begins, without its line end, and the rest of the text.
// The packet's text is empty for a flush and for a delimiter.
func cutPacket(text string) (packet, rest string, ok bool) {
	if len(text) < 4 {
		return "", "", false
	}
	size, err := strconv.ParseUint(text[:4], 16, 16)
	if err != nil || int(size) > len(text) {
		return "", "", false
	}
	end := max(int(size), 4)
	return strings.TrimSuffix(text[4:end], "\n"), text[end:], true
}

// report returns the report of a push.
func report(lines ...string) string {
	text := ""
	for _, line := range lines {
		text += Packet(line + "\n")
	}
	return Packet("\x01"+text+"0000") + "0000"
}

// FalseReport returns the report of a successful push to a branch, for a push that did not take place.
func FalseReport(branch string) string { return report("unpack ok", "ok refs/heads/"+branch) }
