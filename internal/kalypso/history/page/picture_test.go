package page_test

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"
)

// withPalette returns a screenshot with only its 256 most frequent colors, which makes the file much smaller.
func withPalette(t *testing.T, screenshot []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(screenshot))
	if err != nil {
		t.Fatal(err)
	}
	pixels := map[color.Color]int{}
	to := image.NewPaletted(from.Bounds(), nil)
	for y := to.Rect.Min.Y; y < to.Rect.Max.Y; y++ {
		for x := to.Rect.Min.X; x < to.Rect.Max.X; x++ {
			pixels[color.RGBAModel.Convert(from.At(x, y))]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(pixels), func(a, b color.Color) int {
		return cmp.Or(pixels[b]-pixels[a], strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	to.Palette = colors[:min(len(colors), 256)]
	draw.Draw(to, to.Rect, from, from.Bounds().Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
