package azuredevopsfake

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// Error returns an answer with a status, and a message and a key of Azure's.
func Error(status int, key, message string) hostfake.Failure {
	return hostfake.Failure{Status: status, Body: fmt.Sprintf(`{"message":%q,"typeKey":%q}`, message, key)}
}

// SignIn returns Azure's answer to a credential that it does not accept: a page to sign in (peer).
func SignIn() hostfake.Failure {
	return hostfake.Failure{Status: 203, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
		Body: signInPage}
}
