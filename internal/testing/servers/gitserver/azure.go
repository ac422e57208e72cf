package gitserver

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// azureFolder is the path of the repositories of a server that behaves as Azure Repos. They are in a project whose name
// has a space. azureSSHFolder is their path over SSH.
const (
	azureFolder    = "/acme/My%20Project/_git/"
	azureSSHFolder = "v3/acme/My Project/"
)

// Azure makes a server behave as Azure Repos. It speaks only protocol version 0, and answers a missing credential with
// a sign-in page. It refuses a fetch without multi_ack, and all filters except blob:none and tree:0. It sends errors on
// channel 3 instead of ACK or NAK, with texts of its own, which begin with TF.
func Azure() Option {
	return func(s *Server) {
		s.Azure, s.v0 = &AzureRepos{}, true
		s.config = append(s.config, azureConfig...)
	}
}

// azureConfig configures git like Azure Repos, which serves any object by hash, and supports only two filters.
var azureConfig = []string{
	"uploadpack.allowAnySHA1InWant=true",
	"uploadpack.allowFilter=true",
	"uploadpackfilter.allow=false",
	"uploadpackfilter.blob:none.allow=true",
	"uploadpackfilter.tree.allow=true",
	"uploadpackfilter.tree.maxDepth=0",
}

// AzureRepos gives the answers in which Azure Repos differs from git.
type AzureRepos struct {
	ReadOnly  atomic.Bool // whether the credential has no permission to push
	protected sync.Map    // the protected references
	before    once
}

// BeforePush makes the server call f once, just before the next push.
func (a *AzureRepos) BeforePush(f func()) { a.before.set(f) }

// Protect makes the server reject pushes to a branch, as a branch policy of Azure Repos does.
func (a *AzureRepos) Protect(branch string) { a.protected.Store("refs/heads/"+branch, true) }

// The error texts of Azure Repos.
const (
	azureNoMultiAck = "TF401041: The capability multi_ack was not sent. Clients must support multi-ack."
	azureNoRepo     = "TF401019: The Git repository with name or identifier %s does not exist or you do not have " +
		"permissions for the operation you are attempting."
	azureNoObject = "TF401035: The object '%s' does not exist."
	azureMoved    = "TF401028: The reference '%s' has already been updated by another client, so you cannot update it. " +
		"Please try again."
	azureProtected = "TF402455: Pushes to this branch are not permitted; you must use a pull request to update this " +
		"branch."
	azureDenied = "TF401027: You need the Git 'GenericContribute' permission to perform this action."
)

// signIn answers with a sign-in page, as Azure Repos does if it does not accept the credential.
func signIn(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNonAuthoritativeInfo)
	_, _ = io.WriteString(w, "<!DOCTYPE html><html><title>Azure DevOps Services | Sign In</title></html>")
}

// serve answers a request for a repository below root as Azure Repos does. If git would give the same answer, it lets
// git answer, with the path of the repository below root.
func (a *AzureRepos) serve(w http.ResponseWriter, req *http.Request, root string, git http.Handler) {
	tail, ok := strings.CutPrefix(req.URL.EscapedPath(), azureFolder)
	name, rest, _ := strings.Cut(tail, "/")
	if _, err := os.Stat(filepath.Join(root, name)); !ok || err != nil {
		http.Error(w, fmt.Sprintf(azureNoRepo, name), http.StatusNotFound)
		return
	}
	if service(req) == "git-receive-pack" && a.ReadOnly.Load() {
		http.Error(w, azureDenied, http.StatusForbidden)
		return
	}
	req = req.Clone(req.Context())
	req.URL = &url.URL{Path: "/" + name + "/" + rest, RawQuery: req.URL.RawQuery}
	if req.Method == http.MethodPost {
		body := bufio.NewReader(req.Body)
		head, err := readHead(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		switch answer, refused := a.answer(filepath.Join(root, name), service(req), head); {
		case refused != "":
			http.Error(w, refused, http.StatusBadRequest)
			return
		case answer != "":
			w.Header().Set("Content-Type", "application/x-"+service(req)+"-result")
			_, _ = io.WriteString(w, answer)
			return
		}
		req.Body = io.NopCloser(io.MultiReader(strings.NewReader(head), body))
	}
	git.ServeHTTP(w, req)
}

// readHead reads the packets of a request up to the first flush packet.
func readHead(r *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		length := make([]byte, 4)
		if _, err := io.ReadFull(r, length); err != nil {
			return "", err
		}
		head.Write(length)
		n, err := strconv.ParseUint(string(length), 16, 16)
		if err != nil || n < 4 {
			return head.String(), err
		}
		if _, err := io.CopyN(&head, r, int64(n)-4); err != nil {
			return "", err
		}
	}
}

// answer returns the complete answer to a request that begins with the packets head, or the reason why Azure Repos
// refuses the request. Both are empty if git must answer.
func (a *AzureRepos) answer(repo, service, head string) (answer, refused string) {
	for first := true; len(head) > 4; first = false {
		packet, rest, _ := cutPacket(head)
		line, _, _ := strings.Cut(packet, "\x00")
		head = rest
		words := strings.Fields(line)
		switch {
		case service == "git-receive-pack" && len(words) == 3:
			a.before.run()
			if status := a.status(repo, words[0], words[2]); status != "" {
				return refusedPush(words[2], status), ""
			}
		case len(words) < 2 || words[0] != "want":
		case first && !strings.Contains(line, " multi_ack"):
			return "", azureNoMultiAck
		case !HasObject(repo, words[1]):
			return Packet("\x03" + fmt.Sprintf(azureNoObject, words[1])), ""
		}
	}
	return "", ""
}

// status returns the reason why an update of a reference is refused, or "".
func (a *AzureRepos) status(repo, old, ref string) string {
	if _, protected := a.protected.Load(ref); protected {
		return azureProtected
	}
	if now := reference(repo, ref); cmp.Or(now, noCommit) != old {
		return fmt.Sprintf(azureMoved, ref)
	}
	return ""
}

// refusedPush returns the report of a push that is refused after its objects were stored.
func refusedPush(ref, status string) string {
	return Packet("\x02Analyzing objects... (1/1) (1 ms)\n") + report("unpack ok", "ng "+ref+" "+status)
}

// noCommit is the hash of a branch that does not exist.
const noCommit = "0000000000000000000000000000000000000000"
