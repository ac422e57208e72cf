package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// ClearSecrets lists the config values that are plainly secrets. A delivery would commit them in plain text.
type ClearSecrets []clearSecret

type clearSecret struct {
	config *fleet.Config
	key    string
	is     string // what it is, such as "a GitHub token"
}

// FindClearSecrets finds the values that are plainly secrets, sorted by config and key.
func FindClearSecrets(configs []*fleet.Config) (found ClearSecrets) {
	found = slices.Concat(parallel.Map(len(configs), func(i int) (found ClearSecrets) {
		for key, value := range configs[i].Data {
			if is := secretscan.Find(key, value); is != "" && !unknown.Is(value) {
				found = append(found, clearSecret{configs[i], key, is})
			}
		}
		return found
	})...)
	slices.SortFunc(found, func(a, b clearSecret) int {
		return cmp.Or(cmp.Compare(a.config.Name, b.config.Name), cmp.Compare(a.key, b.key))
	})
	return found
}

// Problems returns an error for each config with values that are new, or that changed since the last delivery or
// proposal. It lists all of them, so that one look at the config is enough. The errors do not contain the values.
func (s ClearSecrets) Problems(before *State) (ps problem.Problems) {
	for all := range lists.Runs(s, func(c clearSecret) *fleet.Config { return c.config }) {
		config := all[0].config
		var found ClearSecrets
		var lines []string
		for _, c := range all {
			if !hasValue(before, config, c.key) {
				found, lines = append(found, c), append(lines, c.lines()...)
			}
		}
		if len(found) == 0 {
			continue
		}
		const way = "%[1]s a secret store, and refer to %[2]s by kalypso_secret. Or encrypt %[2]s: SOPS ciphertext and " +
			"SealedSecrets pass. If Git may contain %[2]s, set guardrails.secrets to \"warn\" or \"ignore\"."
		p := problem.Problem{Path: []problem.Step{problem.Attr("data")}, Summary: "Plain-text secret"}
		if len(lines) == 1 {
			p.Path = append(p.Path, problem.Key(found[0].key))
			p.Detail = fmt.Sprintf("The value of %q contains %s, and config values are committed to Git in plain text. ",
				found[0].key, found[0].is) + fmt.Sprintf(way, "Put it into", "it")
		} else {
			p.Detail = fmt.Sprintf("These values are secrets, and config values are committed to Git in plain text:\n%s\n",
				problem.IndentedList(lines, maxSecretsListed)) + fmt.Sprintf(way, "Put them into", "them")
		}
		ps = append(ps, fleet.ProblemOf(config, p))
	}
	return ps
}

// maxSecretsListed limits the secrets that an error lists.
const maxSecretsListed = 200

// lines names each secret in a value. Of a value with several lines, such as a file, it names the lines.
func (c clearSecret) lines() (named []string) {
	named = secretscan.Lines(c.key, c.config.Data[c.key])
	if len(named) < 2 {
		return []string{c.key + ": " + c.is}
	}
	return named
}

// hasValue reports whether the last delivery or proposal contains the value of a config's key.
func hasValue(s *State, config *fleet.Config, key string) bool {
	value := config.Data[key]
	return s != nil && (s.Inputs.Contains(config.Name, key, value) || s.Desired().Inputs.Contains(config.Name, key, value))
}

// Hide removes the secrets from problems. Templates, schemas and their functions may put values into their errors.
func (s ClearSecrets) Hide(ps problem.Problems) {
	var pairs []string
	hide := func(text string) {
		const shortest = 4 // bytes; shorter lines tell nothing
		text = strings.TrimSpace(text)
		if len(text) >= shortest {
			pairs = append(pairs, text, HiddenText)
		}
	}
	for _, c := range s {
		value := c.config.Data[c.key]
		hide(value)
		quoted := strconv.Quote(value)
		hide(quoted[1 : len(quoted)-1])
		for line := range strings.Lines(value) {
			hide(line)
		}
	}
	if len(pairs) == 0 {
		return
	}
	r := strings.NewReplacer(pairs...)
	for i := range ps {
		ps[i].Detail, ps[i].Cause = r.Replace(ps[i].Detail), r.Replace(ps[i].Cause)
	}
}

// HideSecrets returns the fleet with other texts in place of the config values that are plainly secrets.
func HideSecrets(f *fleet.Fleet, with func(config *fleet.Config, key string) string) *fleet.Fleet {
	return f.WithValues(func(config *fleet.Config, key, value string) string {
		if secretscan.Find(key, value) == "" {
			return value
		}
		return with(config, key)
	})
}

// SecretTexts returns the texts that make config values plainly secrets, see [HideSecrets].
func SecretTexts(f *fleet.Fleet) (found []string) {
	for _, c := range FindClearSecrets(f.Configs) {
		found = append(found, secretscan.Texts(c.key, c.config.Data[c.key])...)
	}
	return found
}
