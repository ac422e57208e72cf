package httpapi

import "errors"

// Page is a page of a list.
type Page struct {
	Number, Size int // Number counts from 1
	Start        int // the number of entries on earlier pages
}

// shrink is the factor between the sizes of pages.
const shrink = 10

// EachPage reads the pages of a list, until it has read limit entries or the list ends. read reads and uses a page. It
// returns the number of its entries, and whether there are more pages. If an answer is too large, EachPage reads
// smaller pages, and then larger ones again. It skips an entry that is too large by itself: people may write texts of
// any length, and must not hide the other entries. Some entries may be read twice. more reports whether the list has
// more entries than were read.
func EachPage(size, limit int, read func(p Page) (entries int, more bool, err error)) (more bool, err error) {
	seen, served := 0, size // served is the number of entries on the server's largest pages
	p := Page{Number: 1, Size: size}
	resize := func(to int) {
		to = max(1, min(to, served))
		p = Page{Number: seen/to + 1, Size: to, Start: seen - seen%to}
	}
	for resized := false; seen < limit; {
		entries, more, err := read(p)
		switch tooLarge := errors.Is(err, ErrTooLarge); {
		case tooLarge && p.Size > 1:
			resize(p.Size / shrink)
			resized = true
			continue
		case tooLarge:
			entries, more = 1, true
		case err != nil:
			return false, err
		}
		if !more || entries == 0 {
			return false, nil
		}
		if entries < min(p.Size, served) {
			served = entries
			if resized && p.Number > 1 { // the page began earlier
				resize(served)
				continue
			}
		}
		seen = max(seen, p.Start+entries)
		p.Number, p.Start = p.Number+1, p.Start+entries
		for p.Size < min(size, served) && seen%min(size, p.Size*shrink) == 0 {
			resize(min(size, p.Size*shrink))
		}
	}
	return true, nil
}
