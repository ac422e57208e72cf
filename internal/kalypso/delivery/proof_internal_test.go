package delivery

import (
	"maps"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// TestProof: a proof is for exactly one key, destination, record and set of folders.
func TestProof(t *testing.T) {
	t.Parallel()
	at := destination.Destination{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."}
	folders := inventory.Folders{"large": {Hash: tree.Hash{1}}, "small": {Hash: tree.Hash{2}}}
	key := ProofKey("key")
	proof := key.Proof(at, "hash", folders)
	if !strings.HasPrefix(proof, "Kalypso-Proof: ") || strings.Contains(proof, "\n") {
		t.Fatalf("the proof is %q", proof)
	}
	renamed := at
	renamed.Repo = "https://ACME.io/gitops.git"
	if key.Proof(renamed, "hash", maps.Clone(folders)) != proof {
		t.Error("the proof depends on the notation of the repo's URL")
	}
	with := func(name string, hash tree.Hash) inventory.Folders {
		all := maps.Clone(folders)
		all[name] = inventory.Folder{Hash: hash}
		if hash == (tree.Hash{}) {
			delete(all, name)
		}
		return all
	}
	branch, path := at, at
	branch.Branch, path.Path = "prod", "clusters"
	for name, other := range map[string]string{
		"another key":     ProofKey("another").Proof(at, "hash", folders),
		"another branch":  key.Proof(branch, "hash", folders),
		"another path":    key.Proof(path, "hash", folders),
		"another record":  key.Proof(at, "other", folders),
		"another file":    key.Proof(at, "hash", with("large", tree.Hash{3})),
		"one folder more": key.Proof(at, "hash", with("theirs", tree.Hash{3})),
		"one folder less": key.Proof(at, "hash", with("small", tree.Hash{})),
	} {
		if other == proof {
			t.Errorf("%s has the same proof", name)
		}
	}
	if ProofKey("").Proof(at, "hash", folders) != "" {
		t.Error("there is a proof without a key")
	}
}
