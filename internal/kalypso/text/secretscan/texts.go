package secretscan

import (
	"encoding/base64"
	"math/bits"
	"strings"
)

// Texts returns the secrets in a text that [Find] recognizes, without the text around them. key is the name of the
// text.
func Texts(key, text string) (found []string) {
	found = texts(text)
	if trimmed := strings.TrimSpace(text); ofName(key, text) != "" ||
		awsKeyName.MatchString(key) && awsSecretKey.MatchString(trimmed) {
		found = append(found, trimmed)
	}
	for run := range base64Runs(text) {
		if token := strings.Trim(run, "/"); isOldAzureDevOps(token) {
			found = append(found, token)
			continue
		}
		data, err := base64.RawStdEncoding.DecodeString(run)
		if err != nil || !isPrintable(data) {
			continue
		}
		found = append(found, texts(string(data))...)
		if token := strings.TrimLeft(strings.TrimSpace(string(data)), ":"); isOldAzureDevOps(token) {
			found = append(found, token)
		}
	}
	return found
}

func texts(text string) (found []string) {
	if len(text) < shortest {
		return nil
	}
	for possible := anchors.rulesIn(text); possible != 0; possible &= possible - 1 {
		r := &anchors.rules[bits.TrailingZeros64(possible)]
		for _, match := range r.pattern.FindAllStringSubmatch(text, maxMatches) {
			if !r.isSecret(text, match) {
				continue
			}
			if len(r.secret) == 0 {
				found = append(found, match[0])
			}
			for _, group := range r.secret {
				found = append(found, withLogin(match[group])...)
			}
		}
	}
	return found
}

// withLogin returns a secret, and the password in it if it is a login in base64. It returns nothing for "".
func withLogin(secret string) []string {
	if secret == "" {
		return nil
	}
	if isLogin(secret) {
		data, _ := base64.RawStdEncoding.DecodeString(secret)
		_, password, _ := strings.Cut(string(data), ":")
		return []string{secret, password}
	}
	return []string{secret}
}
