package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the provider as a server of Terraform's protocol 6.
func NewServer(version string, options ...Option) tfprotov6.ProviderServer {
	served := providerserver.NewProtocol6(New(version, options...)())()
	lists, ok := served.(tfprotov6.ListResourceServer)
	if !ok {
		panic("the framework serves no list resources")
	}
	return panicReporter{privateState{served}, lists}
}
