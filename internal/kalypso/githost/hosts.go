package githost

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
	var servers, reasons, names, blocks []string
	var doing string
	for _, host := range h {
		repo, err := host.Repo(url)
		var other *Error
		if !errors.Is(err, ErrOtherHost) || !errors.As(err, &other) {
			return repo, err
		}
		var server string
		doing, server, _ = strings.Cut(other.Op, onServer)
		servers, reasons = append(servers, server), append(reasons, other.Cause.Error())
		names, blocks = append(names, other.Host), append(blocks, other.Block)
	}
	return Repo{}, &Error{
		Op:   doing + onServer + strings.Join(servers, " or the "),
		Kind: ErrOtherHost, Cause: errors.New(strings.Join(distinct(reasons), "; ")),
		Host: strings.Join(distinct(names), " or "), Block: strings.Join(distinct(blocks), " or "),
	}
}

// distinct returns the texts without repetitions.
func distinct(texts []string) (all []string) {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
