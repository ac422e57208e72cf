package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// editPrivate changes the private state of the rendering.
func (r *rendering) editPrivate(edit func([]byte) []byte) {
	r.t.Helper()
	path := filepath.Join(r.folder, "terraform.tfstate")
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	text = privateOfResource.ReplaceAllFunc(text, func(pair []byte) []byte {
		_, value, _ := strings.Cut(string(pair), ": ")
		private, err := base64.StdEncoding.DecodeString(strings.Trim(value, `"`))
		if err != nil {
			r.t.Fatal(err)
		}
		return []byte(`"private": "` + base64.StdEncoding.EncodeToString(edit(private)) + `"`)
	})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// editDelivery changes what the provider keeps in private state.
func (r *rendering) editDelivery(edit func(*delivery.State)) {
	r.t.Helper()
	r.editPrivate(func(private []byte) []byte {
		var keys map[string][]byte
		if err := json.Unmarshal(private, &keys); err != nil {
			r.t.Fatal(err)
		}
		state, err := delivery.DecodeState(keys["delivery"])
		if err != nil {
			r.t.Fatal(err)
		}
		edit(state)
		if keys["delivery"], err = state.Encode(); err != nil {
			r.t.Fatal(err)
		}
		text, err := json.Marshal(keys)
		if err != nil {
			r.t.Fatal(err)
		}
		return text
	})
}

// TestAccRenderingCorruptState: an unusable private state is read again from the branch, or is an error that says what
// to do. It causes no write.
func TestAccRenderingCorruptState(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.apply()
	good, err := os.ReadFile(filepath.Join(r.folder, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	restore := func() {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.folder, "terraform.tfstate"), good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const address = "kalypso_environment_rendering.this"
	id := "dev@file://" + r.repo + "//.?ref=dev"
	for name, edit := range map[string]func(){
		"undecodable": func() { r.editPrivate(func([]byte) []byte { return []byte(`{"delivery": "Im5vbmUi"}`) }) }, // "none"
		"of a later version": func() {
			r.editDelivery(func(s *delivery.State) {
				s.Version, s.Seen.Head = 1000, s.Seen.Head[1:]+"0" // so that the branch is compared
				for name, folder := range s.Delivered {
					folder.Hash[0]++
					s.Delivered[name] = folder
				}
			})
		},
	} {
		edit()
		if out := r.succeed("plan", "-no-color"); !strings.Contains(out.text(), "No changes.") {
			t.Errorf("%s: the plan is not empty:\n%s", name, out.text())
		}
		r.expectCommits(0)
		restore()
	}
	for name, test := range map[string]struct {
		edit func()
		says string
	}{
		"no JSON": {func() { r.editPrivate(func([]byte) []byte { return []byte("none") }) }, "Private state can't be read"},
		"a value that is not": {func() { r.editPrivate(func([]byte) []byte { return []byte(`{"delivery": "bm9uZQ=="}`) }) },
			"Private state can't be read"},
		"of another place": {func() { r.editDelivery(func(s *delivery.State) { s.Destination.Path = "elsewhere" }) },
			"Private state of another rendering"},
		"another environment": {func() { r.editDelivery(func(s *delivery.State) { s.Environment = "stage" }) },
			"Private state of another rendering"},
	} {
		for _, command := range [][]string{
			{"plan"}, {"plan", "-refresh=false"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"},
		} {
			test.edit()
			r.options("deletion_protection", false)
			r.expectRefused([]string{test.says, "terraform state rm", "terraform import"}, command...)
			if t.Failed() {
				t.Fatalf("%s, %v", name, command)
			}
			r.options("deletion_protection", nil)
			restore()
		}
		test.edit()
		r.succeed("state", "rm", address)
		r.succeed("import", address, id)
		r.expectCommits(0)
		restore()
	}
}
