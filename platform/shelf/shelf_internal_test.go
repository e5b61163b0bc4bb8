package shelf

import "testing"

// TestShelf fills a shelf beyond its size: what was not used longest goes, and what is too large is not kept.
func TestShelf(t *testing.T) {
	t.Parallel()
	s := New[int](3 * (100 + itemOverhead))
	for key := range 3 {
		s.Put(key, key, 100)
	}
	s.Get(0)
	s.Put(3, 3, 100)
	s.Put(4, 4, s.maxBytes)
	s.Put(3, "another", 100)
	for key, want := range []bool{true, false, true, true, false} {
		value, there := s.Get(key)
		if there != want || there && value != key {
			t.Errorf("%d is there: %v with %v, want %v", key, there, value, want)
		}
	}
	if s.bytes > s.maxBytes || len(s.items) != 3 {
		t.Errorf("%d items of %d bytes, at most %d", len(s.items), s.bytes, s.maxBytes)
	}
	s.Set(3, "another", 50)
	if value, _ := s.Get(3); value != "another" || s.bytes != 250+3*itemOverhead {
		t.Errorf("in its place is %v, and %d bytes are counted", value, s.bytes)
	}
	s.Remove(0)
	s.Remove(7)
	if _, there := s.Get(0); there || s.bytes != 150+2*itemOverhead {
		t.Errorf("what was removed is there: %v, and %d bytes are counted", there, s.bytes)
	}
	s.Clear()
	if s.bytes != 0 || len(s.items) != 0 || s.order.Len() != 0 {
		t.Errorf("%d bytes are left", s.bytes)
	}
}
