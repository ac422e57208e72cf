package gitstore

import (
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzParse: a deployment record that is read is written and read again as the same one, and begins no run after it was
// observed. An error belongs to the file, so that the other environments can still be read.
func FuzzParse(f *testing.F) {
	const head = `{"v":1,"environment":"prod","gitops_repo":"https://x/y","branch":"prod","path":".",` +
		`"observed_at":"2026-01-31T10:00:00.5Z","observation":"0123456789abcdef","after":"","verdict":"running",` +
		`"verdict_since":"2026-01-31T10:00:00Z","head":"a","promoted_commit":"b","unanswered":["c"]}`
	const start = `{"cluster_type":"large","target":"shop","object":"Deployment a/b","version":"1","state":"running",` +
		`"since":"2026-01-31T09:00:00Z","message":"m","clusters":["a","b"]}`
	for _, text := range []string{
		head, head + "\n" + start + "\n", head + start + start, start, "", "null", "[]", head + "\nnull", head + "x",
		strings.Replace(head, `"v":1`, `"v":2`, 1), strings.Replace(head, `"v":1`, `"v":1,"v":1`, 1),
		strings.ReplaceAll(head, "Z", "+14:00"), head + strings.Replace(start, "09:00", "11:00", 1),
		strings.Replace(head, "prod", "\xff", 1), head + strings.Replace(start, "2026", "9999", 1),
		strings.Replace(head, "2026-01-31T10:00:00.5Z", "-0001-01-31T10:00:00Z", 1), head + `{"clusters":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first header // names the time, as the path of the file does
		_ = jsonv2.UnmarshalDecode(jsontext.NewDecoder(strings.NewReader(string(text))), &first)
		r := reference{"h/prod/x.jsonl", first.ObservedAt.Truncate(time.Second)}
		read, err := parse(r, text)
		if err != nil {
			if read != nil || !isBroken(err) || !strings.Contains(err.Error(), r.path) {
				t.Errorf("the error does not belong to the file: %v", err)
			}
			return
		}
		for _, s := range read.starts {
			if s.Since.After(read.ObservedAt) {
				t.Errorf("a run begins at %s, after %s", s.Since, read.ObservedAt)
			}
		}
		written, err := read.encode()
		if err != nil {
			t.Fatalf("%q can't be written again: %v", text, err)
		}
		again, err := parse(r, written)
		if diff := cmp.Diff(read, again, cmp.AllowUnexported(file{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%q is written as %q: %v (-read +again):\n%s", text, written, err, diff)
		}
	})
}

// FuzzParseName: the path of a deployment record is the time of the record and a hash, so that the order of the paths
// is the order of the records.
func FuzzParseName(f *testing.F) {
	for _, name := range []string{
		"h/prod/2026/01/31/100000Z-0123456789ab.jsonl", "2026/01/31/100000Z-0123456789ab.jsonl", "h/prod/", "",
		"h/prod/2026/02/30/100000Z-0123456789ab.jsonl", "h/prod/2026/01/31/100000Z-0123456789AB.jsonl",
		"h/prod/2026/01/31/100000Z-0123456789ab.jsonl\n", "h/prod/2026/01/31/10000.Z-0123456789ab.jsonl",
		"h/prod/2026/01/31/1000,1Z-0123456789ab.jsonl", "h/prod/+026/01/31/100000Z-0123456789ab.jsonl",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		const folder = "h/prod"
		r, ok := parseName(folder, name)
		if !ok {
			return
		}
		below := strings.TrimPrefix(name, folder+"/")
		if r.path != name || r.at.Nanosecond() != 0 || r.at.Location() != time.UTC ||
			r.at.Format(layout) != below[:len(layout)] || !reserved.MatchString(below) {
			t.Errorf("%q is the record of %s at %q", name, r.at, r.path)
		}
	})
}
