package httpapi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestEachPage: for any sizes of entries and of the server's pages, each entry that an answer has room for is read in
// order, up to the bound, and the number of requests is bounded.
func TestEachPage(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(t, 300, 10_000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		size := []int{1, 50, 100, 1000}[rnd.IntN(4)]
		limit := size * (1 + rnd.IntN(5))
		capped := min(size, []int{size, 20, 7}[rnd.IntN(3)]) // by the server's settings
		entries := make([]int, rnd.IntN(2*limit))
		for i := range entries {
			switch rnd.IntN(40) {
			case 0:
				entries[i] = 1 + rnd.IntN(200) // may be larger than any answer
			case 1:
				entries[i] = 60
			default:
				entries[i] = rnd.IntN(3)
			}
		}
		requests, read, ends := 0, map[int]bool{}, false
		more, err := httpapi.EachPage(size, limit, func(p httpapi.Page) (int, bool, error) {
			requests++
			served := min(p.Size, capped)
			start := min(len(entries), (p.Number-1)*served)
			page := entries[start:min(len(entries), start+served)]
			sum := 0
			for _, entry := range page {
				sum += entry
			}
			if sum > 100 {
				return 0, false, fmt.Errorf("read: %w", httpapi.ErrTooLarge)
			}
			for i := range page {
				read[start+i] = true
			}
			ends = ends || start+len(page) == len(entries)
			return len(page), start+len(page) < len(entries), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, entry := range entries {
			if i < limit && entry <= 100 && !read[i] {
				t.Fatalf("size %d, limit %d, capped %d: entry %d of %d was not read", size, limit, capped, i, len(entries))
			}
		}
		if more && len(entries) < limit || !more && len(entries) > limit+size {
			t.Errorf("size %d, limit %d: %d entries, more: %t", size, limit, len(entries), more)
		}
		if bound := 2*limit + 10; requests > bound {
			t.Errorf("size %d, limit %d: %d requests, at most %d are allowed", size, limit, requests, bound)
		}
	}
	var sizes []int
	failed := errors.New("down")
	_, err := httpapi.EachPage(100, 200, func(p httpapi.Page) (int, bool, error) {
		sizes = append(sizes, p.Size)
		if len(sizes) == 1 {
			return 0, false, httpapi.ErrTooLarge
		}
		return 0, false, failed
	})
	if !errors.Is(err, failed) || !slices.Equal(sizes, []int{100, 10}) {
		t.Errorf("sizes %d, %v", sizes, err)
	}
}
