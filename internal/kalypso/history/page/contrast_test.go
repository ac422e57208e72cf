package page_test

import "math"

// relativeLuminance returns the relative luminance of a color in sRGB, as WCAG 2 defines it. r, g and b are from 0 to
// 255.
func relativeLuminance(r, g, b float64) float64 {
	linear := func(c float64) float64 {
		c /= 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
