package observe_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const clusterTypes = 200

// seedFleet creates a branch with the folders of 200 cluster types. The first commit adds all folders, and each later
// commit changes one of them.
func seedFleet(t *testing.T, commits int) (repo string, hashes []string) {
	t.Helper()
	repo = gitserver.InitBare(t)
	var names []string
	files := map[string]string{}
	for i := range clusterTypes {
		name := fmt.Sprintf("ct%03d", i)
		names = append(names, `"`+name+`"`)
		for j := range 5 {
			files[fmt.Sprintf("fleet/%s/target-%d/namespace.yaml", name, j)] = strings.Repeat(name+"\n", 100)
		}
	}
	files["fleet/.kalypso/rendering.json"] = `{"version": 1, "environment": "stage", "cluster_types": [` + strings.Join(
		names,
		", ",
	) + `]}`
	hashes = append(hashes, gitserver.Seed(t, repo, "stage", files))
	for i := range commits - 1 {
		hashes = append(hashes, gitserver.Seed(t, repo, "stage", map[string]string{
			fmt.Sprintf("fleet/ct%03d/target-0/namespace.yaml", i%clusterTypes): fmt.Sprint("change ", i),
		}))
	}
	return repo, hashes
}

func request(t testing.TB, url string, reports ...deployment.Report) observe.Request {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	return observe.Request{
		Client:  client,
		At:      destination.Destination{Repo: url, Branch: "stage", Path: "fleet"},
		Sources: []observe.Source{observe.Recorded(reports)},
		Wait:    time.Minute,
		Rules:   deployment.Rules{Deadline: 1e6 * time.Hour, StaleAfter: time.Hour},
	}
}

func report(cluster, folder, commit string) deployment.Report {
	return deployment.Report{
		Cluster:  cluster,
		Folder:   folder,
		Revision: "stage@sha1:" + commit,
		Health:   deployment.Healthy,
		Time:     time.Now(),
	}
}

// TestObserveLargeFleet: 300 clusters report one folder with 40 revisions, and 5,000 clusters report 200 folders. Look
// fetches all revisions together, without the contents of files. To evaluate the reports takes less than two seconds.
func TestObserveLargeFleet(t *testing.T) {
	repo, hashes := seedFleet(t, 100)
	s, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	var one, many []deployment.Report
	for i := range 300 {
		one = append(one, report(fmt.Sprintf("c%03d", i), "ct150", hashes[len(hashes)-1-i%40]))
	}
	for i := range 5000 {
		many = append(
			many,
			report(fmt.Sprintf("c%04d", i), fmt.Sprintf("ct%03d", i%clusterTypes), hashes[len(hashes)-1-i%40]),
		)
	}
	for _, test := range []struct {
		name    string
		reports []deployment.Report
		current int
	}{
		{"300 clusters, one folder, 40 revisions", one, 300},
		// Some clusters of a folder that changed in the last 40 commits report an older tree.
		{"5,000 configurations, 200 cluster types, 40 revisions", many, 4500},
	} {
		s.ResetLog()
		begin := time.Now()
		seen, err := observe.Look(t.Context(), request(t, url, test.reports...), time.Now)
		took := time.Since(begin)
		if err != nil {
			t.Fatal(err)
		}
		current := 0
		for _, f := range seen.Outcome.Folders {
			current += f.Current
		}
		if current < test.current || current > len(test.reports) {
			t.Errorf("%s: %d clusters are current", test.name, current)
		}
		sent := int64(0)
		for _, r := range s.Requests() {
			sent += r.Sent
		}
		if n := len(s.Requests()); n > 14 || sent > 1<<20 {
			t.Errorf("%s: %d requests, %d bytes", test.name, n, sent)
		}
		begin = time.Now()
		world := deployment.Input{
			Branch:  seen.Branch,
			Reports: test.reports,
			Rules:   deployment.Rules{Deadline: time.Hour, StaleAfter: time.Hour},
		}
		if _, err := deployment.Evaluate(t.Context(), world); err != nil {
			t.Fatal(err)
		}
		judged := time.Since(begin)
		if judged > 2*time.Second {
			t.Errorf("%s: evaluated in %s", test.name, judged)
		}
		t.Logf("%s: read in %d ms with %d requests and %d KiB, evaluated in %d ms",
			test.name, took.Milliseconds(), len(s.Requests()), sent>>10, judged.Milliseconds())
	}
}

// TestObserveBeyondKnownHistory: Look first reads a short history, and a longer one if a reported commit is missing. A
// commit that is beyond this one, too, makes the verdict pending.
func TestObserveBeyondKnownHistory(t *testing.T) {
	repo := gitserver.InitBare(t)
	first := gitserver.Seed(t, repo, "stage", map[string]string{
		"fleet/large/x.yaml":            "x",
		"fleet/.kalypso/rendering.json": `{"version": 1, "environment": "stage", "cluster_types": ["large"]}`,
	})
	var script strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&script, "commit refs/heads/stage\ncommitter A <a@acme.io> %d +0000\ndata 1\nx\n", 1700000001+i)
		if i == 0 {
			fmt.Fprintf(&script, "from %s\n", first)
		}
		fmt.Fprintf(&script, "M 644 inline other\ndata %d\n%d\n", len(fmt.Sprint(i)), i)
	}
	gitserver.FastImport(t, repo, script.String())
	middle := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "stage~900"))
	seen, err := observe.Look(t.Context(), request(t, "file://"+repo, report("a", "large", middle)), time.Now)
	if err != nil || seen.Outcome.Verdict != deployment.Success {
		t.Errorf("900 commits back: %+v, %v", seen, err)
	}
	seen, err = observe.Look(t.Context(), request(t, "file://"+repo, report("a", "large", first)), time.Now)
	if err != nil || seen.Outcome.Verdict != deployment.Pending ||
		!strings.Contains(seen.Outcome.Problems[0].Message, "not among the last 1024") {
		t.Errorf("1,100 commits back: %+v, %v", seen, err)
	}
}

// failingSource is a source that returns an error.
type failingSource struct{ err error }

func (failingSource) Name() string { return "broken" }

func (b failingSource) Reports(context.Context, deployment.Rendering) ([]deployment.Report, error) {
	return nil, b.err
}

// TestObserveFailingSources: if a source does not answer, it is listed, and all verdicts are pending. If a source gives
// an invalid answer, this is an error.
func TestObserveFailingSources(t *testing.T) {
	repo, hashes := seedFleet(t, 1)
	req := request(t, "file://"+repo, report("a", "ct000", hashes[0]))
	for _, err := range []error{fmt.Errorf("x: %w", deployment.ErrNoAnswer), context.DeadlineExceeded} {
		req.Sources = append(req.Sources[:1:1], failingSource{err})
		seen, failed := observe.Look(t.Context(), req, time.Now)
		if failed != nil || len(seen.Unanswered) != 1 || seen.Outcome.Verdict != deployment.Pending ||
			seen.Outcome.Folders["ct000"].Verdict != deployment.Pending {
			t.Errorf("%v: %+v, %v", err, seen, failed)
		}
	}
	req.Sources = append(req.Sources[:1:1], failingSource{errors.New("not understood")})
	var source *observe.SourceError
	if _, err := observe.Look(t.Context(), req, time.Now); !errors.As(err, &source) || source.Source != "broken" {
		t.Errorf("%v", err)
	}
}

// capturingSource keeps the rendering for which its reports are requested.
type capturingSource struct{ of *deployment.Rendering }

func (capturingSource) Name() string { return "asked" }

func (a capturingSource) Reports(_ context.Context, of deployment.Rendering) ([]deployment.Report, error) {
	*a.of = of
	return nil, nil
}

// TestObserveTrees: a source gets the branch's head and the trees of the folders. It needs them to recognize the
// content of artifacts.
func TestObserveTrees(t *testing.T) {
	repo, hashes := seedFleet(t, 2)
	var of deployment.Rendering
	req := request(t, "file://"+repo)
	req.Sources = []observe.Source{capturingSource{&of}}
	if _, err := observe.Look(t.Context(), req, time.Now); err != nil {
		t.Fatal(err)
	}
	tree := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "stage:fleet/ct000"))
	if of.Head != hashes[1] || of.Tree("ct000") != tree || of.Tree("other") != "" {
		t.Errorf("head %s, tree %s, %q; want %s, %s and none", of.Head, of.Tree("ct000"), of.Tree("other"), hashes[1], tree)
	}
}

// TestObserveAnyText: a source may report any text. The observation contains neither NUL nor invalid UTF-8,
// because a store such as PostgreSQL refuses them.
func TestObserveAnyText(t *testing.T) {
	const raw = "a\x00b\xff\x1b[2J\n"
	files := map[string]string{
		"fleet/ct000/web/app.yaml":      "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n",
		"fleet/ct000/w\xffeb/app.yaml":  "kind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n",
		"fleet/.kalypso/rendering.json": `{"version": 1, "environment": "stage", "cluster_types": ["ct000"]}`,
	}
	repo := gitserver.InitBare(t)
	commit := gitserver.Seed(t, repo, "stage", files)
	every := func(folder, revision string, nested bool) deployment.Report {
		return deployment.Report{
			Cluster: "c" + raw, Folder: folder, Object: "Kind " + raw, Revision: revision, Health: deployment.Failed,
			Message: raw, Nested: nested, Targets: []deployment.TargetReport{
				{Name: "web", Revision: raw, Version: raw, Message: raw, Health: deployment.Failed},
				{Name: "w\xffeb", Version: raw, Message: raw}, {Name: raw, Revision: raw},
			},
		}
	}
	req := request(t, "file://"+repo,
		every("ct000", "stage@sha1:"+commit, false), every("ct000", raw, true), every("ct000"+raw, raw, false),
		deployment.Report{Cluster: raw, Health: deployment.Offline, Message: raw})
	req.Targets, req.Versions = true, true
	req.Rules.Expected = map[string]deployment.Expectation{"ct000": {Clusters: []string{"c" + raw, "missing" + raw}}}
	req.Sources = append(req.Sources, failingSource{deployment.ErrNoAnswer})
	seen, err := observe.Look(t.Context(), req, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var found int
	forEachText(reflect.ValueOf([]any{seen.Versions.Observation, seen.Outcome}), func(text string) {
		found++
		if printable.Line(text) != text {
			t.Errorf("the observation contains %q", text)
		}
	})
	if found < 20 || len(seen.Versions.Groups) < 2 {
		t.Errorf("%d texts, %d groups", found, len(seen.Versions.Groups))
	}
}

// forEachText calls f with each text in a value.
func forEachText(v reflect.Value, f func(string)) {
	switch v.Kind() {
	case reflect.String:
		f(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			forEachText(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			forEachText(v.Field(i), f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			forEachText(v.Index(i), f)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			forEachText(key, f)
			forEachText(v.MapIndex(key), f)
		}
	}
}
