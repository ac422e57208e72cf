package verify_test

import (
	"crypto"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// dice makes random lists of keys and random commits.
type dice struct {
	*rand.Rand
	entities []*openpgp.Entity
}

func pick[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

var principals = []string{
	"ann@acme.io", "ben@acme.io", "*@acme.io", "a??@*", "ann@acme.io,!ben@acme.io", "!ann@acme.io,*",
}

// arguments returns a random list of keys.
func (d dice) arguments() (a verify.Arguments) {
	for range 1 + d.IntN(5) {
		key := pick(d, edKey, edKey, ecKey, caKey, otherKey)
		var options []string
		if key == caKey && d.chance(80) || d.chance(5) {
			options = append(options, "cert-authority")
		}
		if d.chance(25) {
			options = append(options, fmt.Sprintf("namespaces=%q", pick(d, "git", "file", "*", "*,!git", "file,gi?")))
		}
		after := d.IntN(5)
		if d.chance(25) {
			options = append(options, fmt.Sprintf("valid-after=%q", stamp(after)))
		}
		if d.chance(25) {
			options = append(options, fmt.Sprintf("valid-before=%q", stamp(after+1+d.IntN(3))))
		}
		a.SSH = append(a.SSH, strings.Join([]string{pick(d, principals...), strings.Join(options, ","), public(key)}, " "))
	}
	if d.chance(30) {
		a.Revoked = append(a.Revoked, public(pick(d, edKey, ecKey, caKey, otherKey, rsaKey)))
	}
	for _, e := range d.entities {
		if d.chance(75) {
			a.OpenPGP = append(a.OpenPGP, exported(e)...)
		}
	}
	return a
}

// stamp returns an hour near the time of the commits, as an allowed signers file writes it.
func stamp(hours int) string { return hour(hours).Format("20060102150405") }

func hour(n int) time.Time { return written.Add(time.Duration(n-3) * time.Hour) }

// entity returns a random OpenPGP key with a subkey. Each of the two may have expired or be revoked.
func (d dice) entity() *openpgp.Entity {
	lifetime := func() time.Duration { return pick(d, 0, 0, time.Hour, 2*year) }
	e := entity(lifetime())
	if err := e.AddSigningSubkey(created(lifetime())); err != nil {
		panic(err)
	}
	at := &packet.Config{Time: func() time.Time { return now.Add(-time.Duration(d.IntN(8000)) * time.Hour) }}
	reason := pick(d, packet.KeyRetired, packet.KeyCompromised, packet.NoReason, packet.KeySuperseded)
	if d.chance(20) {
		if err := e.RevokeKey(reason, "", at); err != nil {
			panic(err)
		}
	}
	if d.chance(20) {
		if err := e.RevokeSubkey(&e.Subkeys[len(e.Subkeys)-1], reason, "", at); err != nil {
			panic(err)
		}
	}
	return e
}

// commit returns a random commit. It may be signed, and may have been changed after it was signed.
func (d dice) commit() string {
	when := hour(d.IntN(7))
	raw := text(when)
	switch kind := d.IntN(20); {
	case kind == 0:
		return raw
	case kind < 9:
		e := pick(d, d.entities...)
		key := pick(d, e.PrivateKey, e.Subkeys[len(e.Subkeys)-1].PrivateKey)
		raw = sign(raw, pgpSignature(raw, key, func(s *packet.Signature) {
			s.Hash = pick(d, crypto.SHA256, crypto.SHA384, crypto.SHA512)
			s.CreationTime = now.Add(pick(d, -2*year, -year+time.Minute, -time.Hour, -10*time.Minute, time.Hour))
			if d.chance(20) {
				s.SigLifetimeSecs = new(uint32(pick(d, 60, 9000)))
			}
		}))
	default:
		key := pick(d, edKey, ecKey, otherKey, edKey)
		if d.chance(40) {
			key = certify(key, pick(d, caKey, caKey, otherKey), func(c *ssh.Certificate) {
				c.ValidPrincipals = slices.Repeat([]string{pick(d, "ann@acme.io", "ben@acme.io", "eve@example.com")}, d.IntN(3))
				if d.chance(50) {
					c.ValidPrincipals = append(c.ValidPrincipals, pick(d, "ann@acme.io", "root"))
				}
				if d.chance(30) {
					c.ValidAfter = uint64(hour(d.IntN(5)).Unix())
					c.ValidBefore = c.ValidAfter + 3600*uint64(d.IntN(4)) + 1
				}
				c.CertType = pick(d, uint32(ssh.UserCert), ssh.UserCert, ssh.UserCert, ssh.HostCert)
			})
		}
		raw = sign(raw, sshSignature(raw, key, pick(d, "git", "git", "git", "git", "git", "file")))
	}
	if d.chance(10) {
		change := pick(d, [2]string{"A message", "B"}, [2]string{"+0200", "+0100"}, [2]string{"tree 4", "tree 5"},
			[2]string{"\ngpgsig ", "\ngpgsig-sha256 x\n y\ngpgsig "}, [2]string{"\n\n", "\nencoding x\n\n"})
		raw = strings.Replace(raw, change[0], change[1], 1)
	}
	return raw
}

// TestRandomCommits: random commits are accepted by random lists of keys if and only if git verify-commit accepts them.
func TestRandomCommits(t *testing.T) {
	const commits = 10
	accepted, all := 0, 0
	for seed := range seeds.Of(t, 10, 100) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // repeatable
		for range 3 {
			d.entities = append(d.entities, d.entity())
		}
		a := d.arguments()
		v, ps := verify.New(a)
		if len(ps) > 0 {
			t.Fatal(ps, a.SSH)
		}
		r := newRepo(t, a)
		for range commits {
			raw := d.commit()
			signer, err := v.Commit([]byte(raw), now)
			good, out := r.judge(t, raw)
			if (err == nil) != good {
				t.Errorf("got %q (%v), but git verify-commit accepts it: %v\n%s\n%s", signer, err, good, out,
					strings.Join(a.SSH, "\n"))
			}
			all++
			if good {
				accepted++
			}
		}
	}
	t.Logf("Git accepts %d of %d commits", accepted, all)
	if accepted*10 < all && !seeds.Single() {
		t.Errorf("Git accepts %d of %d commits: the test compares too little", accepted, all)
	}
}
