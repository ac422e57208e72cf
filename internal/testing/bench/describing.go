package main

import (
	"context"
	"fmt"
)

// descriptions measures the plans of changes whose description is shown.
type descriptions struct{ b *bench }

// describing measures the plan of a change of all folders of large-100k, with a description that shows lines. It
// compares it with the same plan, with a description that shows keys.
func (d descriptions) describing(ctx context.Context) error {
	for range d.b.runs {
		for _, detail := range []string{"keys", "lines"} {
			if err := d.describe(ctx, detail); err != nil {
				return err
			}
		}
	}
	keys, lines := d.b.median("describe/keys"), d.b.median("describe/lines")
	d.b.add(row{"plan a change of all folders of `large-100k` with `describe = \"lines\"`", lines,
		fmt.Sprintf("`describe = \"keys\"`: %s, %s", seconds(keys.time), keys.memory()),
		fmt.Sprintf("%+.2f s, %+d MiB", (lines.time - keys.time).Seconds(), (lines.peak-keys.peak)>>20), "+2 s, +100 MiB"})
	return nil
}

// describe measures the plan of a change of all folders, with a description of this detail.
func (d descriptions) describe(ctx context.Context, detail string) error {
	f, err := load(fleet100k)
	if err != nil {
		return err
	}
	if f, err = changed(f, ofAll, "before"); err != nil {
		return err
	}
	r, err := d.b.newRoot(ctx, asManifests(f, "none", fmt.Sprintf("  delivery = { describe = %q }\n", detail)))
	if err != nil {
		return err
	}
	defer r.remove()
	if _, err := r.apply(ctx); err != nil {
		return err
	}
	if f, err = changed(f, ofAll, "after"); err != nil {
		return err
	}
	if err := r.write(f); err != nil {
		return err
	}
	return d.b.measure("describe/"+detail, func() (sample, error) { return r.firstPlan(ctx) })
}
