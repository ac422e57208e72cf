package gitremote_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// bomb returns a pack with a commit of 64 KiB, and a delta on it whose result is so many times as large.
func bomb(times int) []byte {
	pack := bytes.NewBuffer([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02"))
	base := []byte(strings.Repeat("message\n", 8<<10))
	pack.Write([]byte{0x90, 0x80, 0x20}) // a commit of 1<<16 bytes
	writeDeflated(pack, base)
	edits := binary.AppendUvarint(nil, uint64(len(base)))
	edits = binary.AppendUvarint(edits, uint64(times)<<16)
	edits = append(edits, bytes.Repeat([]byte{0x80}, times)...) // copy 64 KiB from the beginning
	pack.Write([]byte{0xf0 | byte(len(edits)&15), 0x80 | byte(len(edits)>>4&127), byte(len(edits) >> 11)})
	named := plumbing.ComputeHash(plumbing.CommitObject, base)
	pack.Write(named[:])
	writeDeflated(pack, edits)
	sum := sha1.Sum(pack.Bytes())
	return append(pack.Bytes(), sum[:]...)
}

func writeDeflated(to *bytes.Buffer, content []byte) {
	z := zlib.NewWriter(to)
	_, _ = z.Write(content)
	_ = z.Close()
}

// TestFetchBomb: a fetch ends within its memory limit if a small answer expands to 256 MiB.
func TestFetchBomb(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	answer := gitserver.Packet("packfile\n") + gitserver.Packet("\x01"+string(bomb(4<<10))) + "0000" // 256 MiB
	if len(answer) > 2<<10 {
		t.Fatalf("the answer has %d bytes", len(answer))
	}
	server, url := gitserver.Serve(t, repo)
	server.Fail(gitserver.Fault{
		Service: "git-upload-pack", Method: http.MethodPost, Skip: 1, Status: http.StatusOK, Body: []byte(answer),
	})
	ssh := gitserver.NewSSH(t)
	greeting := gitserver.Packet("version 2\n") + gitserver.Packet("ls-refs=unborn\n") +
		gitserver.Packet("fetch=shallow filter\n") + "0000" +
		gitserver.Packet(head+" HEAD\n") + gitserver.Packet(head+" refs/heads/main\n") + "0000"
	ssh.Fail(t, gitserver.SSHFault{Service: "git-upload-pack", Output: []byte(greeting + answer)})
	for name, r := range map[string]remote{
		"http": open(t, url, nil, gitremote.WithMaxRead(16<<20)),
		"ssh":  open(t, ssh.URL(repo), sshCredential(ssh), gitremote.WithMaxRead(16<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := readAll(t.Context(), r, head)
		runtime.ReadMemStats(&after)
		is(t, err, gitremote.ErrTooLarge)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: %d MiB were allocated", name, took>>20)
		}
	}
}
