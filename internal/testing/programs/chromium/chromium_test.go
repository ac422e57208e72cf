package chromium_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/chromium"
)

// TestPage checks that the client applies a view, records the requests and the log of a page, presses keys, and takes a
// screenshot.
func TestPage(t *testing.T) {
	b := chromium.Start(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><input><img src="/gone.png">
<script>console.log("hello"); setTimeout(() => { throw new Error("broken") });
onkeydown = (event) => { document.title += event.key }</script>`))
	}))
	defer server.Close()
	p := b.Open(t, server.URL, chromium.View{Width: 400, Height: 300, Dark: true, Zone: "Asia/Tokyo"})
	var got struct {
		Dark  bool
		Zone  string
		Width int
	}
	p.Eval(t, `new Promise((done) => setTimeout(() => done({dark: matchMedia("(prefers-color-scheme: dark)").matches,
		zone: Intl.DateTimeFormat().resolvedOptions().timeZone, width: innerWidth}), 100))`, &got)
	if !got.Dark || got.Zone != "Asia/Tokyo" || got.Width != 400 {
		t.Errorf("the view: %+v", got)
	}
	console := strings.Join(p.Console(t), "\n")
	for _, want := range []string{"hello", "broken", "404"} {
		if !strings.Contains(console, want) {
			t.Errorf("no %s in the console:\n%s", want, console)
		}
	}
	if !slices.Contains(p.Requests(t), server.URL+"/gone.png") {
		t.Errorf("requests: %s", p.Requests(t))
	}
	p.Press(t, "Tab")
	p.Press(t, "Enter")
	var title string
	p.Eval(t, "document.title", &title)
	if title != "TabEnter" {
		t.Errorf("keys: %s", title)
	}
	if image := p.Screenshot(t, false); !strings.HasPrefix(string(image), "\x89PNG") {
		t.Errorf("the screenshot: %.20q", image)
	}
	p = b.Open(t, server.URL, chromium.View{Width: 400, Height: 300, NoScript: true})
	if len(p.Console(t)) > 1 {
		t.Errorf("without scripts: %s", p.Console(t))
	}
}
