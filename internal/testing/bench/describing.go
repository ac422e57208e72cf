package main

import "fmt"

// describing measures the plan of a change of all folders of large-100k, with a description that shows lines. It
// compares it with the same plan, with a description that shows keys.
func (b *bench) describing() {
	for range b.runs {
		for _, detail := range []string{"keys", "lines"} {
			f := changed(load(fleet100k), ofAll, "before")
			r := b.newRoot(asManifests(f, "none", fmt.Sprintf("  delivery = { describe = %q }\n", detail)))
			r.apply()
			r.write(changed(f, ofAll, "after"))
			b.measure("describe/"+detail, r.firstPlan)
			r.remove()
		}
	}
	keys, lines := b.median("describe/keys"), b.median("describe/lines")
	b.add(row{"plan a change of all folders of `large-100k` with `describe = \"lines\"`", lines,
		fmt.Sprintf("`describe = \"keys\"`: %s, %s", seconds(keys.time), keys.memory()),
		fmt.Sprintf("%+.2f s, %+d MiB", (lines.time - keys.time).Seconds(), (lines.peak-keys.peak)>>20), "+2 s, +100 MiB"})
}
