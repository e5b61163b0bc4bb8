package memo_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/platform/memo"
)

func TestRemembers(t *testing.T) {
	t.Parallel()
	m := memo.New[int](1000)
	if _, ok := m.Get("river"); ok {
		t.Fatal("an empty memo knows a word")
	}
	m.Put("river", 5)
	if v, ok := m.Get("river"); v != 5 || !ok {
		t.Fatalf("got %d, %v", v, ok)
	}
	long := strings.Repeat("x", 1000)
	m.Put(long, 1)
	if _, ok := m.Get(long); ok {
		t.Error("remembers what is no word")
	}
}

// TestForgets what nobody asks for, and not what is asked for all the time.
func TestForgets(t *testing.T) {
	t.Parallel()
	const most = 640
	m := memo.New[int](most)
	m.Put("the", 1)
	for i := range 100 * most {
		m.Put(strconv.Itoa(i), i)
		if _, ok := m.Get("the"); !ok {
			t.Fatalf("forgot a word in use after %d others", i)
		}
	}
	kept := 0
	for i := range 100 * most {
		if v, ok := m.Get(strconv.Itoa(i)); ok {
			if kept++; v != i {
				t.Fatalf("%d: got %d", i, v)
			}
		}
	}
	if kept < most/4 || kept > most {
		t.Errorf("keeps %d of at most %d", kept, most)
	}
}

func TestConcurrently(t *testing.T) {
	t.Parallel()
	m := memo.New[int](256)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 5000 {
				key := strconv.Itoa(i % 700)
				if v, ok := m.Get(key); ok && v != i%700 {
					t.Errorf("%s: got %d", key, v)
				}
				m.Put(key, i%700)
			}
		})
	}
	all.Wait()
}
