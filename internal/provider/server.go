package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// server answers a request with an error if a resource, data source, list or function panics. It passes the bulk data
// of private states around the framework, and explains private states that can't be read.
type server struct {
	tfprotov6.ProviderServer
	lists tfprotov6.ListResourceServer // of the same provider
}

var _ tfprotov6.ListResourceServer = server{}

// NewServer returns the provider as a server of Terraform's protocol 6.
func NewServer(version string, options ...Option) tfprotov6.ProviderServer {
	served := providerserver.NewProtocol6(New(version, options...)())()
	lists, ok := served.(tfprotov6.ListResourceServer)
	if !ok {
		panic("the framework serves no list resources")
	}
	return server{served, lists}
}
