package azuredevopsfake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// identity is a user or a team.
type identity struct {
	id    string
	login string // of a user: the unique name; of a team: its project and name
	team  bool
}

// Team is a team that can review.
const Team = project + "/platform"

// teamLogin is Azure's notation of [Team].
const teamLogin = "[" + project + `]\platform`

func identities() (all []*identity) {
	for i, login := range []string{hostfake.BotLogin, "ann", "annabel", "bob", "cora", "eve", teamLogin} {
		all = append(all, &identity{fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", i+1), login, login == teamLogin})
	}
	return all
}

// name is the name as the provider's configuration has it.
func (i *identity) name() string {
	if i.team {
		return Team
	}
	return i.login
}

// person returns a user or a team by its name.
func (s *Server) person(name string) *identity {
	return s.people[slices.IndexFunc(s.people, func(i *identity) bool { return i.name() == name })]
}

// Twin adds a second identity with the mail of a user: a work account and a personal one can share it (peer).
func (s *Server) Twin(login string) {
	twin := &identity{id: "00000000-0000-4000-8000-000000000099", login: login}
	s.Locked(func() { s.people = append(s.people, twin) })
}

// show returns an identity in the format of references to it.
func (i *identity) show() object {
	unique := i.login
	if i.team {
		unique = "vstfs:///Classification/TeamProject/" + projectID + `\platform`
	}
	o := object{"id": i.id, "displayName": i.login, "uniqueName": unique, "url": "https://acme.io/" + i.id}
	if i.team {
		o["isContainer"] = true
	}
	return o
}

// findIdentities answers a search. It finds all names that begin with the text (unsure).
func (s *Server) findIdentities(c *call, _ none) answer {
	found := []object{}
	for _, i := range s.people {
		value := c.URL.Query().Get("filterValue")
		if len(value) > len(i.login) || !strings.EqualFold(i.login[:len(value)], value) {
			continue
		}
		text := func(value string) object { return object{"$type": "System.String", "$value": value} }
		properties := object{"Account": text(i.login), "Mail": text("")}
		if i.team {
			properties["Account"] = text("platform")
		}
		found = append(found, object{"id": i.id, "providerDisplayName": i.login, "isActive": true, "isContainer": i.team,
			"descriptor": "Microsoft.TeamFoundation.Identity;S-1-9-" + i.id, "properties": properties})
	}
	return list(found)
}
