// Command argocd runs one of the programs that Argo CD consists of: application-controller, repo-server, or a Redis in
// memory at an address.
//
//	argocd application-controller|repo-server [FLAGS]
//	argocd redis ADDRESS
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
)

// step is the interval at which Redis removes expired keys.
const step = 100 * time.Millisecond

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(program string, args []string) error {
	os.Args = append([]string{program}, args...)
	switch program {
	case "application-controller":
		return controller.NewCommand().Execute()
	case "repo-server":
		return reposerver.NewCommand().Execute()
	case "redis":
		server := miniredis.NewMiniRedis()
		if err := server.StartAddr(args[0]); err != nil {
			return err
		}
		for range time.Tick(step) {
			server.FastForward(step) // it does not expire keys by itself
		}
	}
	return fmt.Errorf("unknown program %q", program)
}
