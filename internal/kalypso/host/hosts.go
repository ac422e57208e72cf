package host

import (
	"errors"
	"slices"
	"strings"
)

// Hosts combines several hosts into one [Host]. The server in a repo's URL decides which host is used.
type Hosts []Host

var _ Host = Hosts(nil)

// Repo implements [Host]. If no host has the repo, the error contains the names and the reason of each host.
func (h Hosts) Repo(url string) (Repo, error) {
	var ops, reasons, names, blocks []string
	for _, host := range h {
		repo, err := host.Repo(url)
		var other *Error
		if !errors.Is(err, ErrOtherHost) || !errors.As(err, &other) {
			return repo, err
		}
		ops = append(ops, other.Op)
		names, blocks = append(names, other.Host), append(blocks, other.Block)
		if other.Cause != nil {
			reasons = append(reasons, other.Cause.Error())
		}
	}
	return Repo{}, &Error{
		Op: joinOps(ops), Kind: ErrOtherHost, Cause: errors.New(strings.Join(distinct(reasons), "; ")),
		Host: strings.Join(distinct(names), " or "), Block: strings.Join(distinct(blocks), " or "),
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
