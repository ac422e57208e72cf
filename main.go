// Command terraform-provider-kalypso is the Terraform provider for Kalypso fleets. Terraform starts it; it is not meant to
// be run by hand, except with -debug.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// version is set by the release build: -ldflags "-X main.version=…".
var version = "dev"

// address is the provider's source address as Terraform resolves it.
const address = "registry.terraform.io/terraform-kalypso/kalypso"

func main() {
	var debug bool

	flag.BoolVar(&debug, "debug", false, "run so that a debugger such as delve can attach, and print TF_REATTACH_PROVIDERS")
	flag.Parse()

	if !debug { // else the one who started it reads its logs
		if err := levelLogs(); err != nil {
			log.Fatal(err)
		}
	}
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: address,
		Debug:   debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
