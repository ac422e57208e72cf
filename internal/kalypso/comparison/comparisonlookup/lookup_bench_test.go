package comparisonlookup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison/comparisonlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The size of the compared fleet: 100,000 assignments.
const (
	benchTypes   = 200
	benchTargets = 500
)

// BenchmarkComparison compares two branches of 100,000 assignments. All files contain the namespace, so all are read.
// The bound is 300 MiB. make bench compares the time with that of the first apply of such a fleet.
func BenchmarkComparison(b *testing.B) {
	repo := gitserver.InitBare(b)
	for _, environment := range []string{"stage", "prod"} {
		writeFleet(b, repo, environment)
	}
	gitserver.Git(b, repo, "repack", "-adq")
	_, url := gitserver.Serve(b, repo, gitserver.WithFilter())
	client, err := gitremote.NewClient(nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		start := processor.Time()
		var c *comparison.Comparison
		peak := memory.Peak(func() {
			sides := comparison.Pair[destination.Destination]{
				Left: destination.New(url, "stage", ""), Right: destination.New(url, "prod", ""),
			}
			c, _, err = comparisonlookup.Read(b.Context(), comparisonlookup.Request{Client: client, Sides: sides})
		})
		if err != nil {
			b.Fatal(err)
		}
		if len(c.Configs) != 1 || len(c.Configs[0].Folders) != benchTypes*benchTargets || len(c.Files) != 0 {
			b.Fatalf("%d configs, %v", len(c.Configs), c.Files)
		}
		took := processor.Time() - start
		b.ReportMetric(took.Seconds(), "cpu-s")
		b.ReportMetric(float64(peak>>20), "peak-MiB")
		if peak > 300<<20 {
			b.Errorf("it took %d MiB; the bound is 300 MiB", peak>>20)
		}
	}
}

// writeFleet writes the branch of an environment.
func writeFleet(b *testing.B, repo, environment string) {
	b.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "commit refs/heads/%s\ncommitter A <a@acme.io> 1700000000 +0000\ndata 1\nx\n", environment)
	file := func(path, text string) {
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	var types []string
	for t := range benchTypes {
		name := fmt.Sprintf("type-%03d", t)
		types = append(types, name)
		file(name+"/README.md", "This folder contains deployment targets scheduled on the cluster type")
		for n := range benchTargets {
			target := fmt.Sprintf("app-%03d-web", n)
			namespace := environment + "-" + name + "-" + target
			folder := name + "/" + target + "/"
			file(folder+"namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+namespace+"\n")
			file(folder+"reconciler.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n"+
				"  name: "+target+"\n  namespace: flux-system\nspec:\n  interval: 30s\n  targetNamespace: "+namespace+
				"\n  prune: true\n")
			file(folder+"platform-config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n"+
				"  namespace: "+namespace+"\ndata:\n  ENVIRONMENT: "+environment+"\n  REGION: region-"+name+
				"\n  DATABASE_URL: mysql://"+name+":8806\n")
		}
	}
	file(record.File, string(record.New(environment, types, "", nil, nil).Marshal()))
	gitserver.FastImport(b, repo, s.String())
}
