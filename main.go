// Command terraform-provider-kalypso is the Terraform provider for Kalypso fleets. Terraform starts it; run it by
// hand only with -debug.
package main

import (
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	_ "github.com/terraform-kalypso/terraform-provider-kalypso/internal/ballast"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/loglevel"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// version is set by the release build: -ldflags "-X main.version=…".
var version = "dev"

// address is the provider's source address as Terraform resolves it.
const address = "registry.terraform.io/terraform-kalypso/kalypso"

func main() {
	var debug bool

	flag.BoolVar(&debug, "debug", false,
		"run so that a debugger such as delve can attach, and print TF_REATTACH_PROVIDERS")
	flag.Parse()

	if !debug { // in a debugger, show all logs
		if err := loglevel.Set(); err != nil {
			log.Fatal(err)
		}
	}
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return provider.NewServer(version) }, options...)
	if err != nil {
		log.Fatal(err)
	}
}
