// Command terraform-provider-kalypso is the Terraform provider for Kalypso fleets. Terraform starts it; run it by
// hand only with -debug.
package main

import (
	"flag"
	"log"
	"runtime"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// version is set by the release build: -ldflags "-X main.version=…".
var version = "dev"

// address is the provider's source address as Terraform resolves it.
const address = "registry.terraform.io/terraform-kalypso/kalypso"

// ballastSize is the size of an allocation that is never touched, in bytes. It takes no physical memory, but the
// garbage collector counts it as live heap. The collector runs when the heap has doubled: without the ballast it
// would run many times in one plan, at some ten MiB of live values each time, for up to half of the plan's time. The
// peak memory grows by the size of the ballast.
//
// The collector's settings are worse. A higher GOGC saves as much time, but doubles the memory of a large fleet,
// since it grows with the heap. With a memory limit in place of GOGC, the collector runs all the time once the heap
// is near the limit.
const ballastSize = 64 << 20

func main() {
	var debug bool

	flag.BoolVar(&debug, "debug", false,
		"run so that a debugger such as delve can attach, and print TF_REATTACH_PROVIDERS")
	flag.Parse()

	if !debug { // in a debugger, show all logs
		if err := levelLogs(); err != nil {
			log.Fatal(err)
		}
	}
	var ballast strings.Builder
	ballast.Grow(ballastSize) // make would often clear the memory, and so take it
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return provider.NewServer(version) }, options...)
	runtime.KeepAlive(&ballast)
	if err != nil {
		log.Fatal(err)
	}
}
