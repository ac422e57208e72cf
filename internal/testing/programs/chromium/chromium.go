// Package chromium drives a real headless Chromium for tests, by the Chrome DevTools Protocol over a pipe
// (https://chromedevtools.github.io/devtools-protocol/).
package chromium

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// timeout is the longest time that Chromium may take to send a message that it owes.
const timeout = time.Minute

// Browser is a running Chromium. Only one goroutine may use it and its pages.
type Browser struct {
	to    io.Writer
	from  *os.File
	texts *bufio.Reader // of from
	last  int
	pages map[string]*Page // by session
}

// Page is a tab. It records the page's requests and log since [Browser.Open].
type Page struct {
	browser           *Browser
	session           string
	loaded            bool
	console, requests []string
}

// message is an answer or an event of the protocol.
type message struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct{ Message string }
}

// Start starts Chromium, and stops it when the test ends. If Chromium is missing, the test is skipped; in CI it fails.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := programs.Program{
		Name: "Chromium", Add: "apt-get install chromium, or your system's package",
	}.Find(t, "chromium", "chromium-browser", "google-chrome")
	theirs, to, err := os.Pipe()
	must.Succeed(t, err)
	from, ours, err := os.Pipe()
	must.Succeed(t, err)
	folder := t.TempDir()
	cmd := exec.Command(program, "--headless=new", "--remote-debugging-pipe", //nolint:gosec // a fixed name
		"--user-data-dir="+folder, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb")
	cmd.ExtraFiles = []*os.File{theirs, ours} // file descriptors 3 and 4 of Chromium
	process := programs.Run(t, filepath.Join(t.TempDir(), "log"), cmd, syscall.SIGTERM)
	_ = theirs.Close()
	_ = ours.Close()
	b := &Browser{to: to, from: from, texts: bufio.NewReader(from), pages: map[string]*Page{}}
	t.Cleanup(func() {
		_, _ = b.call("", "Browser.close", nil)
		_ = to.Close()
		select { // a signal would end Chromium before its other processes
		case <-process.Exited:
		case <-time.After(10 * time.Second):
		}
		_ = from.Close()
	})
	return b
}

// next reads the next message, and passes an event to its page. It fails if there is none until the timeout.
func (b *Browser) next() (m message, err error) {
	if err := b.from.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return m, err
	}
	text, err := b.texts.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
	}
	if p := b.pages[m.SessionID]; p != nil && m.ID == 0 {
		p.record(m)
	}
	return m, err
}

// record records an event.
func (p *Page) record(m message) {
	var e struct {
		Entry            struct{ Level, Text string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Type    string
		Args    []json.RawMessage
		Message string
		Request struct{ URL string }
	}
	if json.Unmarshal(m.Params, &e) != nil {
		return
	}
	switch m.Method {
	case "Page.loadEventFired":
		p.loaded = true
	case "Log.entryAdded":
		p.console = append(p.console, e.Entry.Level+": "+e.Entry.Text)
	case "Runtime.exceptionThrown":
		p.console = append(p.console, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case "Runtime.consoleAPICalled":
		p.console = append(p.console, fmt.Sprintf("%s: %s", e.Type, e.Args))
	case "Page.javascriptDialogOpening":
		p.console = append(p.console, "dialog: "+e.Message)
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	}
}

func (b *Browser) call(session, method string, params any) (json.RawMessage, error) {
	b.last++
	if params == nil {
		params = struct{}{}
	}
	request := map[string]any{"id": b.last, "method": method, "params": params}
	if session != "" {
		request["sessionId"] = session
	}
	text, err := json.Marshal(request)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		return nil, err
	}
	for {
		m, err := b.next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("no answer to %s: %w", method, err)
		case m.ID == b.last && m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		case m.ID == b.last:
			return m.Result, nil
		}
	}
}

// View configures how a page is shown.
type View struct {
	Width, Height int
	Dark, Print   bool
	NoScript      bool
	Zone          string // the time zone, such as Europe/Berlin
}

// Open loads a page, and waits until it is loaded.
func (b *Browser) Open(t testing.TB, url string, view View) *Page {
	t.Helper()
	var target struct{ TargetID, SessionID string }
	b.result(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.result(t, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	p := &Page{browser: b, session: target.SessionID}
	b.pages[p.session] = p
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.Call(t, domain+".enable", nil, nil)
	}
	p.Call(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": view.Width, "height": view.Height, "deviceScaleFactor": 1, "mobile": false,
	}, nil)
	scheme, media := "light", "screen"
	if view.Dark {
		scheme = "dark"
	}
	if view.Print {
		media = "print"
	}
	p.Call(t, "Emulation.setEmulatedMedia", map[string]any{
		"media": media, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
	p.Call(t, "Emulation.setTimezoneOverride", map[string]any{"timezoneId": view.Zone}, nil)
	p.Call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": view.NoScript}, nil)
	var navigated struct{ ErrorText string }
	p.Call(t, "Page.navigate", map[string]any{"url": url}, &navigated)
	if navigated.ErrorText != "" {
		t.Fatalf("%s: %s", url, navigated.ErrorText)
	}
	for !p.loaded {
		if _, err := b.next(); err != nil {
			t.Fatalf("%s did not load: %v", url, err)
		}
	}
	return p
}

// Call calls a method of the protocol, and decodes the result unless it is nil.
func (p *Page) Call(t testing.TB, method string, params, result any) {
	t.Helper()
	p.browser.result(t, p.session, method, params, result)
}

func (b *Browser) result(t testing.TB, session, method string, params, result any) {
	t.Helper()
	answer, err := b.call(session, method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	must.Succeed(t, err)
}

// Eval evaluates an expression of JavaScript, and decodes its value unless result is nil.
func (p *Page) Eval(t testing.TB, expression string, result any) {
	t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.Call(t, "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	}, &got)
	if got.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, result); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

// Press presses a key, such as Enter or ArrowDown.
func (p *Page) Press(t testing.TB, key string) {
	t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
		"ArrowDown": 40}
	event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
	if key == "Enter" {
		event["text"] = "\r"
	}
	p.Call(t, "Input.dispatchKeyEvent", event, nil)
	p.Call(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key,
		"windowsVirtualKeyCode": codes[key]}, nil)
}

// Screenshot returns a picture of the page as PNG: of the whole page, or of the part that the window shows.
func (p *Page) Screenshot(t testing.TB, whole bool) []byte {
	t.Helper()
	var shot struct{ Data string }
	p.Call(t, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &shot)
	image, err := base64.StdEncoding.DecodeString(shot.Data)
	must.Succeed(t, err)
	return image
}

// Console returns the log of the page and the browser: messages, exceptions, and requests that a policy blocked.
func (p *Page) Console(t testing.TB) []string {
	t.Helper()
	p.Call(t, "Page.getNavigationHistory", nil, nil) // reads the events until now
	return p.console
}

// Requests returns the URLs that the page requested, beginning with its own.
func (p *Page) Requests(t testing.TB) []string {
	t.Helper()
	p.Call(t, "Page.getNavigationHistory", nil, nil) // reads the events until now
	return p.requests
}
