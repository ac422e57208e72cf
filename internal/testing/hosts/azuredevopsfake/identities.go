package azuredevopsfake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	for i, login := range []string{botLogin, "ann", "annabel", "bob", "cora", "eve", teamLogin} {
		all = append(all, &identity{fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", i+1), login, login == teamLogin})
	}
	return all
}

func (s *Server) person(login string) *identity {
	return s.people[slices.IndexFunc(s.people, func(p *identity) bool { return p.login == login })]
}

// Twin adds a second identity with the mail of a user: a work account and a personal one can share it (peer).
func (s *Server) Twin(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people = append(s.people, &identity{id: "00000000-0000-4000-8000-000000000099", login: login})
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

// serveIdentities answers a search. It also finds names by their beginnings (unsure).
func (s *Server) serveIdentities(w http.ResponseWriter, c *call) {
	var found []object
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
	list(w, found)
}
