package host

import (
	"errors"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Hosts combines several hosts into one [Host]. The server in a repo's URL decides which host is used.
type Hosts []Host

var _ Host = Hosts(nil)

// Name returns the names of all hosts.
func (h Hosts) Name() string { return h.each(Host.Name) }

// Block returns the names of the blocks of all hosts.
func (h Hosts) Block() string { return h.each(Host.Block) }

func (h Hosts) each(text func(Host) string) string {
	return strings.Join(distinct(lists.Map(h, text)), " or ")
}

// Repo implements [Host]. If no host has the repo, the error contains the reason of each host.
func (h Hosts) Repo(url string) (Repo, error) {
	var ops, reasons []string
	for _, host := range h {
		repo, err := host.Repo(url)
		var other *Error
		if !errors.Is(err, ErrOtherHost) || !errors.As(err, &other) {
			return repo, err
		}
		ops = append(ops, other.Op)
		if other.Cause != nil {
			reasons = append(reasons, other.Cause.Error())
		}
	}
	return Repo{}, &Error{
		Op: joinOps(ops), Kind: ErrOtherHost, Cause: errors.New(strings.Join(distinct(reasons), "; ")),
		Host: h.Name(), Block: h.Block(),
	}
}

// joinOps joins operations on servers, and writes their common beginning once.
func joinOps(ops []string) string {
	const at = " on the "
	doing, _, _ := strings.Cut(strings.Join(ops, ""), at)
	for i, op := range ops[min(1, len(ops)):] {
		ops[i+1] = strings.TrimPrefix(op, doing+at)
	}
	return strings.Join(ops, " or the ")
}

// distinct returns the texts without repetitions.
func distinct(texts []string) []string {
	var all []string
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
