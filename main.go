// Command terraform-provider-kalypso is the Terraform provider for Kalypso fleets. Terraform starts it; it is not meant to
// be run by hand, except with -debug.
package main

import (
	"flag"
	"log"
	"runtime"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// version is set by the release build: -ldflags "-X main.version=…".
var version = "dev"

// address is the provider's source address as Terraform resolves it.
const address = "registry.terraform.io/terraform-kalypso/kalypso"

// ballastSize is how many bytes the garbage collector takes for alive that are never touched, and so take no memory. It
// collects when the heap has doubled: without them many times during one plan, for some ten MiB of values at hand each
// time, and for up to half of the plan's time. With them the provider takes this much more memory at its peak.
//
// The settings of the collector do less for more. A higher GOGC saves as much time, but takes twice the memory for a large
// fleet, as it grows with the heap. A memory limit instead of GOGC has the collector run all the time once the limit is
// near.
const ballastSize = 64 << 20

func main() {
	var debug bool

	flag.BoolVar(&debug, "debug", false, "run so that a debugger such as delve can attach, and print TF_REATTACH_PROVIDERS")
	flag.Parse()

	if !debug { // else the one who started it reads its logs
		if err := levelLogs(); err != nil {
			log.Fatal(err)
		}
	}
	ballast := make([]byte, ballastSize)
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return provider.NewServer(version) }, options...)
	runtime.KeepAlive(ballast)
	if err != nil {
		log.Fatal(err)
	}
}
