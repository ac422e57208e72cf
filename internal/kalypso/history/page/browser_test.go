package page_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/chromium"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

var (
	update = flag.Bool("update", false, "write the picture of the docs")
	shots  = flag.String("shots", "", "a folder for screenshots in light and dark, on paper and on a phone")
)

// picture is the path of the picture of the page that the docs show.
const picture = "../../../../examples/functions/fleet_page/fleet.png"

var desktop = chromium.View{Width: 1360, Height: 1000, Zone: "Europe/Berlin"}

// serve serves the page, and fails the test if anything else is requested.
func serve(t *testing.T, histories []page.History, states []page.DeploymentState) string {
	t.Helper()
	return serveData(t, page.Data{Histories: histories, States: states})
}

func serveData(t *testing.T, d page.Data) string {
	t.Helper()
	html, err := page.HTML(d)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			t.Errorf("the page requests %s", r.URL)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/page"
}

// checkQuiet fails the test if the page has logged anything, or requested anything but itself.
func checkQuiet(t *testing.T, p *chromium.Page) {
	t.Helper()
	if logged := p.Console(t); len(logged) > 0 {
		t.Errorf("the console: %s", strings.Join(logged, "\n"))
	}
	if requests := p.Requests(t); len(requests) != 1 {
		t.Errorf("requests: %s", requests)
	}
}

// visible returns the texts of the visible elements that a CSS selector matches.
func visible(t *testing.T, p *chromium.Page, selector string) (texts []string) {
	t.Helper()
	p.Eval(t, `[...document.querySelectorAll('`+selector+`')].filter((e) => e.checkVisibility()).map((e) => `+
		`e.innerText.replace(/\s+/g, " ").trim())`, &texts)
	return texts
}

// TestBrowser opens pages in a real browser.
func TestBrowser(t *testing.T) {
	slow.Skip(t)
	b := chromium.Start(t)
	t.Run("filters, cells, keys", func(t *testing.T) { testUse(t, b) })
	t.Run("without script", func(t *testing.T) { testWithoutScript(t, b) })
	t.Run("hostile names", func(t *testing.T) { testHostile(t, b) })
	t.Run("accessibility", func(t *testing.T) { testAccessible(t, b) })
	t.Run("phone", func(t *testing.T) { testPhone(t, b) })
	t.Run("laptop", func(t *testing.T) { testLaptop(t, b) })
	t.Run("time zones", func(t *testing.T) { testZones(t, b) })
	t.Run("picture", func(t *testing.T) { testPicture(t, b) })
}

// Filters, cells that open, keys and local times work. The page logs and requests nothing.
func testUse(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	url := serve(t, histories, states)
	p := b.Open(t, url, desktop)

	const targets, names = ".fleet tbody:first-of-type th[scope=row]", ".fleet th[scope=row]"
	if got := visible(t, p, names); len(got) != 20 || got[0] != "cart-web" {
		t.Errorf("rows: %s", got)
	}
	if diff := cmp.Diff([]string{"As of 20 Nov 17:30. Times are in Europe/Berlin; hover to see UTC."},
		visible(t, p, "header p")); diff != "" {
		t.Errorf("the reader's zone (-want +got)\n%s", diff)
	}
	var title string
	p.Eval(t, `document.querySelector("header time").title`, &title)
	if title != "2026-11-20 16:30 UTC" {
		t.Errorf("the title of a time: %s", title)
	}

	for _, tt := range []struct{ set, want, output string }{
		{`form.state.value = "failed"`, "checkout-api, store", "2 of 20 rows"},
		{`form.reset(); form.name.value = " Catalog"`, "catalog-api, catalog-sync", "2 of 20 rows"},
		{`form.workspace.value = "backoffice"`, "catalog-api", "1 of 20 rows"},
		{`form.reset(); form.workload.value = "checkout"; form.differs.checked = true`, "checkout-api", "1 of 20 rows"},
		{`form.reset(); form.type.value = "hub"; form.state.value = "progressing"`, "", "0 of 20 rows"},
		{`form.state.value = ""; form.name.value = "hub"`, "hub", "1 of 20 rows"},
	} {
		p.Eval(t, `{ const form = document.forms[0]; `+tt.set+`; form.dispatchEvent(new Event("input")) }`, nil)
		if diff := cmp.Diff(tt.want, strings.Join(visible(t, p, names), ", ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.set, diff)
		}
		if got := visible(t, p, "output"); len(got) != 1 || got[0] != tt.output {
			t.Errorf("%s: %s", tt.set, got)
		}
	}
	if heads := visible(t, p, ".fleet th[scope=rowgroup]"); len(heads) != 1 || heads[0] != "Cluster types 4" {
		t.Errorf("headlines of shown rows: %s", heads)
	}
	p.Eval(t, `document.querySelector("form button").click()`, nil)
	p.Eval(t, `new Promise((done) => setTimeout(done, 50))`, nil)
	if got := visible(t, p, targets); len(got) != 16 {
		t.Errorf("after Clear: %s", got)
	}

	// With the keyboard only: into the table, to the failed target of prod, open, close.
	var focused string
	at := func(want string) {
		t.Helper()
		p.Eval(t, `document.activeElement.closest("tr")?.cells[0].innerText + " " + `+
			`document.activeElement.closest("td")?.cellIndex`, &focused)
		if focused != want {
			t.Errorf("the focus is at %s, want %s", focused, want)
		}
	}
	p.Eval(t, `document.querySelector("form button").focus()`, nil)
	p.Press(t, "Tab")
	at("cart-web 1")
	for _, key := range []string{"ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"} {
		p.Press(t, key)
	}
	at("checkout-api 3")
	const card = ".fleet details[open] > div"
	p.Press(t, "Enter")
	if got := visible(t, p, card); len(got) != 1 || !strings.Contains(got[0], "edge-14, edge-15") ||
		!strings.Contains(got[0], "Earlier versions 1.7.3 15 clusters, 12 Nov 13:30 – 18 Nov 13:30") {
		t.Errorf("the opened cell: %s", got)
	}
	p.Press(t, "ArrowUp")
	p.Press(t, "Enter")
	if got := visible(t, p, card); len(got) != 1 || !strings.Contains(got[0], "1.6.7") {
		t.Errorf("another opened cell: %s", got)
	}
	p.Press(t, "Escape")
	at("catalog-sync 3")
	if got := visible(t, p, card); len(got) != 0 {
		t.Errorf("after Escape: %s", got)
	}
	for range 3 { // kiosk-till does not run in prod: the focus skips it
		p.Press(t, "ArrowDown")
	}
	p.Press(t, "ArrowDown")
	at("loyalty-points 3")
	const filter = `{ const form = document.forms[0]; form.name.value = "%s"; form.dispatchEvent(new Event("input")) }`
	p.Eval(t, fmt.Sprintf(filter, "sync"), nil) // the focus skips hidden rows
	p.Eval(t, `document.querySelector(".fleet tr:not([hidden]) summary").focus()`, nil)
	p.Press(t, "ArrowDown")
	at("stock-sync 1")
	p.Eval(t, fmt.Sprintf(filter, ""), nil)
	p.Eval(t, `document.querySelector(".fleet summary").click()`, nil)
	p.Eval(t, `document.querySelector("h1").click()`, nil)
	if got := visible(t, p, card); len(got) != 0 {
		t.Errorf("after a click outside of the cell: %s", got)
	}

	// The table of deliveries opens.
	if got := visible(t, p, "[aria-labelledby=e1] tbody tr"); len(got) != 10 {
		t.Errorf("%d deliveries", len(got))
	}
	p.Eval(t, `document.querySelector("[aria-labelledby=e1] details").open = true`, nil)
	if got := visible(t, p, "[aria-labelledby=e1] tbody tr"); len(got) != 29 {
		t.Errorf("%d deliveries after opening", len(got))
	}
	checkQuiet(t, p)
}

// Without JavaScript the page shows all data, with times in UTC, and cells open. The filters are hidden, since they
// need JavaScript.
func testWithoutScript(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	view := desktop
	view.NoScript = true
	p := b.Open(t, serve(t, histories, states), view)
	if got := visible(t, p, "form"); len(got) != 0 {
		t.Errorf("the page shows filters: %s", got)
	}
	if got := visible(t, p, "header p"); len(got) != 1 || got[0] != "As of 2026-11-20 16:30Z. Times are in UTC." {
		t.Errorf("the headline: %s", got)
	}
	p.Eval(t, `[...document.querySelectorAll(".fleet summary")].find((s) => s.innerText.includes("failed")).focus()`, nil)
	p.Press(t, "Enter")
	if got := visible(t, p, ".fleet details[open] > div"); len(got) != 1 || !strings.Contains(got[0], "edge-14") {
		t.Errorf("the opened cell: %s", got)
	}
	checkQuiet(t, p)
}

// Names that contain HTML or scripts are shown as text.
func testHostile(t *testing.T, b *chromium.Browser) {
	t.Helper()
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style></script><svg onload=alert(1)>`,
		`' onmouseover='alert(1)`, `javascript:alert(1)`, `{{.}}${alert(1)}`, "a\x00b", "`-alert(1)-`",
	} {
		histories, states := shop()
		histories, states = histories[2:], states[2:]
		h, s := &histories[0], &states[0]
		h.Deployments, h.Versions, h.Runs = h.Deployments[:2], h.Versions[:3], h.Runs[:60]
		h.Environment, s.Verdict, s.Summary = hostile, deployment.Verdict(hostile), hostile
		for i := range h.Deployments {
			d := &h.Deployments[i]
			d.Commit, d.PromotedCommit, d.CompareURL, d.Kind = hostile, hostile, hostile, history.Kind(hostile)
			d.Author, d.Reason, d.Folders = hostile, hostile, []string{hostile}
		}
		for i := range h.Versions {
			v := &h.Versions[i]
			v.Version, v.State, v.Workspace, v.Workload = hostile, hostile, hostile, hostile
			v.Target += hostile
		}
		for i := range h.Runs {
			r := &h.Runs[i]
			r.Cluster, r.ClusterType, r.Version.Version, r.State, r.Message = hostile, hostile, hostile, hostile, hostile
			r.Target += hostile
		}
		for i := range s.Problems {
			s.Problems[i] = deployment.Problem{Cluster: hostile, Folder: hostile, Message: hostile,
				State: deployment.ClusterState(hostile)}
		}
		s.Folders[hostile] = deployment.FolderState{Counts: deployment.Counts{Total: 1}}
		s.Clusters = map[string][]deployment.Followed{hostile: {{Folder: hostile,
			State: deployment.ClusterState(hostile)}}}
		h.ControlPlane.Repo = "https://acme.io/" + hostile
		p := b.Open(t, serve(t, histories, states), desktop)
		p.Eval(t, `for (const e of document.querySelectorAll("details")) e.open = true;`+
			`for (const e of document.querySelectorAll("*")) e.dispatchEvent(new Event("mouseover"))`, nil)
		var links []string
		p.Eval(t, `[...document.links].map((a) => a.protocol).filter((p) => !/^https?:$/.test(p))`, &links)
		if len(links) > 0 {
			t.Errorf("%q makes links %s", hostile, links)
		}
		var scripts int
		p.Eval(t, `document.scripts.length + document.images.length`, &scripts)
		if scripts != 1 {
			t.Errorf("%q: %d scripts and images", hostile, scripts)
		}
		if got := visible(t, p, "h3"); !strings.Contains(strings.Join(got, "\n"), strings.TrimSpace(hostile[:1])) {
			t.Errorf("%q is no text: %s", hostile, got)
		}
		checkQuiet(t, p)
	}
}

// contrasts finds the texts on the page whose contrast with their background is lower than WCAG AA asks for.
const contrasts = `(() => {
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.matches("script, option")) continue;
    let behind = element;
    while (behind && parse(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const style = getComputedStyle(element);
    const pair = [element instanceof SVGElement ? style.fill : style.color, getComputedStyle(behind).backgroundColor];
    const [x, y] = pair.map((c) => luminance(parse(c))).sort((a, b) => b - a);
    seen++;
    if ((x + 0.05) / (y + 0.05) < 4.5) bad.push(element.outerHTML.slice(0, 80) + " " + pair);
  }
  return { seen, bad };
})()`

// Every text has at least the contrast that WCAG AA asks for, in light and dark, in print and on a phone. Screen
// readers get headers, names and roles.
func testAccessible(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	url := serve(t, histories, states)
	for name, change := range map[string]func(*chromium.View){
		"light": func(*chromium.View) {}, "dark": func(v *chromium.View) { v.Dark = true },
		"print": func(v *chromium.View) { v.Dark, v.Print = true, true },
		"phone": func(v *chromium.View) { v.Width, v.Height = 390, 844 },
	} {
		view := desktop
		change(&view)
		p := b.Open(t, url, view)
		if *shots != "" {
			if err := os.WriteFile(filepath.Join(*shots, name+".png"), p.Screenshot(t, true), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.Eval(t, `for (const e of document.querySelectorAll("details")) { e.removeAttribute("name"); e.open = true }`, nil)
		var got struct {
			Seen int
			Bad  []string
		}
		p.Eval(t, contrasts, &got)
		if got.Seen < 1000 || len(got.Bad) > 0 {
			t.Errorf("%s: %d texts, these have too little contrast:\n%s", name, got.Seen, strings.Join(got.Bad, "\n"))
		}
		var background string
		p.Eval(t, `getComputedStyle(document.body).backgroundColor`, &background)
		if dark := background == "rgb(15, 18, 24)"; dark != (name == "dark") {
			t.Errorf("%s: the background is %s", name, background)
		}
		if got := visible(t, p, "form, nav"); (len(got) == 0) != (name == "print") {
			t.Errorf("%s: controls: %s", name, got)
		}
		checkQuiet(t, p)
	}
	p := b.Open(t, url, desktop)
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	p.Call(t, "Accessibility.getFullAXTree", nil, &tree)
	roles := map[string][]string{}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			roles[n.Role.Value] = append(roles[n.Role.Value], n.Name.Value)
		}
	}
	has := func(role, name string) {
		t.Helper()
		for _, n := range roles[role] {
			if strings.Contains(n, name) {
				return
			}
		}
		t.Errorf("no %s is called %q: %q", role, name, roles[role])
	}
	has("banner", "")
	has("main", "")
	has("navigation", "Parts of the page")
	has("search", "Filter the table")
	has("region", "Problems")
	has("region", "Fleet")
	has("columnheader", "prod")
	has("rowheader", "checkout-api")
	has("searchbox", "Name")
	has("combobox", "Cluster type")
	has("checkbox", "Only different versions")
	has("image", "46 current, 2 failed, 1 missing, 1 offline")
	has("image", "prod: 8 deliveries, 1 failed")
	has("DisclosureTriangleGrouped", "1.7.4 ×15 20 Nov failed 2 behind")
	has("DisclosureTriangleGrouped", "1.5.8 ×3 20 Nov current") // only screen readers get the word current
}

// On a phone only tables are wider than the screen, even with long names. A table scrolls on its own, and a shadow
// shows that it continues. The messages under "Wrong now" and an opened cell fit on the screen.
func testPhone(t *testing.T, b *chromium.Browser) {
	t.Helper()
	long := strings.Repeat("an-environment-of-a-long-name-", 3)
	for _, name := range []string{"", long} {
		histories, states := shop()
		if name != "" {
			histories[2].Environment, states[2].Name = name, name
			states[2].Problems[0].Message = strings.Repeat("sha256:0123456789abcdef", 10)
			states[2].Problems[0].Folder, states[2].Problems[0].Cluster = name+"folder", name+"cluster"
		}
		phone := chromium.View{Width: 390, Height: 844, Zone: "Europe/Berlin"}
		p := b.Open(t, serve(t, histories, states), phone)
		if *shots != "" {
			file := filepath.Join(*shots, fmt.Sprintf("phone%d.png", len(name)))
			if err := os.WriteFile(file, p.Screenshot(t, false), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var messages []struct {
			Text                     string
			Left, Right, Top, Bottom float64
		}
		p.Eval(t, `[...document.querySelectorAll(".issues .wide")].filter((e) => e.checkVisibility()).map((e) => {`+
			`const r = e.getBoundingClientRect();`+
			`return { text: e.innerText, left: r.left, right: r.right, top: r.top, bottom: r.bottom }; })`, &messages)
		if len(messages) < 8 || messages[0].Bottom > 844 {
			t.Errorf("%q: messages: %+v", name, messages)
		}
		for _, m := range messages {
			if m.Left < 0 || m.Right > 390 || m.Text == "" {
				t.Errorf("%q: a message is not on the screen: %+v", name, m)
			}
		}
		p.Eval(t, `for (const e of document.querySelectorAll("details")) { e.removeAttribute("name"); e.open = true }`, nil)
		var width int
		p.Eval(t, `document.documentElement.scrollWidth`, &width)
		if width != 390 {
			t.Errorf("%q: the page is %d pixels wide", name, width)
		}
		var wide []string
		p.Eval(t, `[...document.body.querySelectorAll("*")].filter((e) => e.checkVisibility() && !e.closest("table, .axis")`+
			` && e.getBoundingClientRect().right > 390).map((e) => e.outerHTML.slice(0, 200))`, &wide)
		if len(wide) > 0 {
			t.Errorf("%q: these are wider than the screen:\n%s", name, strings.Join(wide, "\n"))
		}
		var cards int
		p.Eval(t, `[...document.querySelectorAll(".fleet details > div")].filter((e) => {`+
			`const r = e.getBoundingClientRect(); return r.left < 0 || r.right > 390 || r.bottom > 844; }).length`, &cards)
		if cards > 0 {
			t.Errorf("%q: %d opened cells are not on the screen", name, cards)
		}
		var scrolls []struct {
			Wide, Shadow bool
			Inside       int
		}
		p.Eval(t, `[...document.querySelectorAll(".scroll")].map((e) => { e.scrollLeft = 1e6; return {`+
			`wide: e.scrollWidth > e.clientWidth, inside: e.scrollLeft,`+
			`shadow: getComputedStyle(e).backgroundAttachment === "local, local, scroll, scroll" }; })`, &scrolls)
		for i, s := range scrolls {
			if !s.Wide || !s.Shadow || s.Inside == 0 {
				t.Errorf("%q: table %d does not scroll: %+v", name, i, s)
			}
		}
		if len(scrolls) < 4 {
			t.Errorf("%q: %d tables scroll", name, len(scrolls))
		}
		checkQuiet(t, p)
	}
}

// On a tablet and a laptop, the page is as wide as the screen. From 1,024 pixels on, the tables of three environments
// fit too. A table of many environments scrolls on its own.
func testLaptop(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	many, manyStates := largeFleet()
	for i := range many {
		many[i].Versions, many[i].Runs, many[i].Deployments = many[i].Versions[:40], nil, many[i].Deployments[:10]
		manyStates[i].Targets = nil
	}
	for _, test := range []struct {
		name string
		data page.Data
		fits int // pixels from which the tables fit
	}{
		{"three environments", page.Data{Histories: histories, States: states, Assignments: shopAssignments()}, 1024},
		{"five environments", page.Data{Histories: many, States: manyStates}, 1280},
	} {
		url := serveData(t, test.data)
		for _, width := range []int{768, 800, 1024, 1280} {
			p := b.Open(t, url, chromium.View{Width: width, Height: 800, Zone: "Europe/Berlin"})
			if *shots != "" {
				file := filepath.Join(*shots, fmt.Sprintf("%s-%d.png", test.name, width))
				if err := os.WriteFile(file, p.Screenshot(t, false), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.Eval(t, `for (const e of document.querySelectorAll("details")) { e.removeAttribute("name"); e.open = true }`, nil)
			var got int
			p.Eval(t, `document.documentElement.scrollWidth`, &got)
			if got != width {
				t.Errorf("%s, %d pixels: the page is %d pixels wide", test.name, width, got)
			}
			var scrolled []string
			p.Eval(t, `[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) =>`+
				`e.closest("section").getAttribute("aria-labelledby") + " " + e.scrollWidth + " > " + e.clientWidth)`, &scrolled)
			if width >= test.fits && len(scrolled) > 0 {
				t.Errorf("%s, %d pixels: tables scroll: %s", test.name, width, strings.Join(scrolled, ", "))
			}
			checkQuiet(t, p)
		}
	}
}

// If the reader's time zone equals UTC, the page names only UTC.
func testZones(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	url := serve(t, histories, states)
	for zone, want := range map[string]string{
		"UTC": "Times are in UTC.", "Africa/Abidjan": "Times are in UTC.",
		"Asia/Tokyo": "Times are in Asia/Tokyo; hover to see UTC.",
	} {
		view := desktop
		view.Zone = zone
		p := b.Open(t, url, view)
		if got := visible(t, p, "#zone"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
		var title string
		p.Eval(t, `document.querySelector(".fleet time").title`, &title)
		if !strings.HasSuffix(title, " UTC") {
			t.Errorf("%s: the time of a cell has the title %q", zone, title)
		}
	}
}

// The picture in the docs shows the upper part of the shop's page in Chromium, with an open cell. -update writes it
// again.
func testPicture(t *testing.T, b *chromium.Browser) {
	t.Helper()
	histories, states := shop()
	view := desktop
	view.Height = 1400
	p := b.Open(t, serveData(t,
		page.Data{Histories: histories, States: states, Assignments: shopAssignments()}), view)
	p.Eval(t, `[...document.querySelectorAll(".fleet summary")].find((s) => s.innerText.includes("1.7.4")).click()`, nil)
	screenshot := p.Screenshot(t, false)
	if *update {
		if err := os.WriteFile(picture, withPalette(t, screenshot), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(picture)
	if err != nil || !strings.HasPrefix(string(kept), "\x89PNG\r\n") || len(kept) > 200<<10 {
		t.Errorf("the picture has %d bytes: %v", len(kept), err)
	}
	checkQuiet(t, p)
}
