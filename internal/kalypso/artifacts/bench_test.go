package artifacts_test

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// The size of the published fleet: 10,000 assignments in 200 artifacts.
const (
	benchTypes   = 200
	benchTargets = 50
)

// BenchmarkPublish publishes a fleet to a registry on loopback. It publishes all folders, then the same commit again,
// then a change of one folder. Then it signs all artifacts, and publishes again when all are signed. The bounds are 20
// s and 300 MiB.
func BenchmarkPublish(b *testing.B) {
	b.Setenv("DOCKER_CONFIG", b.TempDir())
	repo := gitserver.InitBare(b)
	writeFleet(b, repo)
	first := gitserver.Rev(b, repo, "dev")
	gitserver.Seed(b, repo, "dev", map[string]string{"type-000/app-000/namespace.yaml": "kind: Namespace\n"})
	gitserver.Git(b, repo, "repack", "-adq")
	_, url := gitserver.Serve(b, repo, gitserver.WithFilter())
	client, err := gitremote.NewClient(nil)
	if err != nil {
		b.Fatal(err)
	}
	var server *registryserver.Server
	publish := func(b *testing.B, commit string, want int, key *sign.Key) {
		b.Helper()
		base, err := registry.ParseRepository("oci://" + server.Host + "/fleet/dev")
		if err != nil {
			b.Fatal(err)
		}
		p := artifacts.Publication{
			Client: registry.New(nil, httpapi.Access{}), Base: base, Tags: []string{"latest"}, Key: key,
		}
		server.Requests()
		start, cpu, uploads := time.Now(), processor.Time(), 0
		peak := memory.Peak(func() {
			var d *artifacts.Delivery
			d, err = artifacts.Open(b.Context(), client, destination.New(url, "dev", ""), commit)
			if err != nil {
				return
			}
			defer d.Close()
			_, uploads, err = p.Publish(b.Context(), d)
		})
		b.ReportMetric((processor.Time() - cpu).Seconds(), "cpu-s")
		b.ReportMetric(float64(peak>>20), "peak-MiB")
		sent := server.Requests()
		signs := key != nil && b.Name() == "BenchmarkPublish/sign"
		if took := time.Since(start); err != nil || uploads != want || want == 0 && !signs && sent[http.MethodPut] > 0 ||
			took > 20*time.Second || peak > 300<<20 {
			b.Fatalf("%d uploads, want %d, in %s and %d MiB, with the requests %v; %v", uploads, want, took, peak>>20, sent, err)
		}
	}
	server = registryserver.Start(b)
	key, err := sign.ParseKey(privateKey(b, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))), nil)
	if err != nil {
		b.Fatal(err)
	}
	last := gitserver.Rev(b, repo, "dev")
	for _, step := range []struct {
		name    string
		commit  string
		uploads int
		key     *sign.Key
	}{
		{"all", first, benchTypes, nil}, {"again", first, 0, nil}, {"one", last, 1, nil},
		{"sign", last, 0, key}, {"signed", last, 0, key},
	} {
		b.Run(step.name, func(b *testing.B) {
			for b.Loop() {
				publish(b, step.commit, step.uploads, step.key)
			}
		})
	}
}

// writeFleet writes the branch of a fleet.
func writeFleet(b *testing.B, repo string) {
	b.Helper()
	var s strings.Builder
	s.WriteString("commit refs/heads/dev\ncommitter A <a@acme.io> 1700000000 +0000\ndata 1\nx\n")
	file := func(path, text string) {
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	var types []string
	for t := range benchTypes {
		name := fmt.Sprintf("type-%03d", t)
		types = append(types, name)
		for n := range benchTargets {
			namespace := fmt.Sprintf("dev-%s-app-%03d", name, n)
			folder := fmt.Sprintf("%s/app-%03d/", name, n)
			file(folder+"namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+namespace+"\n")
			file(folder+"reconciler.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n"+
				"  name: app\nspec:\n  interval: 30s\n  targetNamespace: "+namespace+"\n  prune: true\n")
			file(folder+"platform-config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n"+
				"  namespace: "+namespace+"\ndata:\n  REGION: "+name+"\n  DATABASE_URL: mysql://"+name+":8806\n")
		}
	}
	file(record.File, string(record.New("dev", types, "", nil, nil).Marshal()))
	gitserver.FastImport(b, repo, s.String())
}
