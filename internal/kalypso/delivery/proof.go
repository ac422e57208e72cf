package delivery

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// ProofKey is a secret that only the state contains. The commits of the next apply have a proof that this key makes.
type ProofKey string

// Proof returns a line for the message of the commit that leaves a record and these folders at a destination. With this
// line, the next run recognizes the commit if the apply is killed before Terraform saves its state. People who may push
// to the branch can't forge the line, because they lack the key. It is "" if there is no key, as for a create.
func (k ProofKey) Proof(at destination.Destination, recordHash string, folders inventory.Folders) string {
	if k == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(k))
	fmt.Fprintf(mac, "%q %q %q\n", at.Branch, at.Path, recordHash)
	for _, name := range folders.Names() {
		fmt.Fprintf(mac, "%s %q\n", folders[name].Hash, name)
	}
	return drift.ProofTrailer + hex.EncodeToString(mac.Sum(nil)[:20])
}
