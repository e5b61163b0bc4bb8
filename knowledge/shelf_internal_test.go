package knowledge

import "testing"

// TestShelf fills a shelf beyond its size: what was not used longest goes, and what is too large is not kept.
func TestShelf(t *testing.T) {
	t.Parallel()
	s := newShelf(3 * (100 + itemOverhead))
	key := func(number int64) shelfKey { return shelfKey{number: number} }
	for number := range int64(3) {
		s.put(key(number), number, 100)
	}
	s.get(key(0))
	s.put(key(3), int64(3), 100)
	s.put(key(4), int64(4), s.maxBytes)
	for number, want := range []bool{true, false, true, true, false} {
		value, there := s.get(key(int64(number)))
		if there != want || there && value != int64(number) {
			t.Errorf("%d is there: %v with %v, want %v", number, there, value, want)
		}
	}
	if s.bytes > s.maxBytes || len(s.items) != 3 {
		t.Errorf("%d items of %d bytes, at most %d", len(s.items), s.bytes, s.maxBytes)
	}
	if _, there := s.get(shelfKey{number: 0, model: "other"}); there {
		t.Error("the codes of another model were found")
	}
}
