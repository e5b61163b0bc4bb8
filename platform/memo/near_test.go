package memo_test

import (
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/memo"
)

// TestNear remembers more than it has room for with what is behind it, and nothing wrong without.
func TestNear(t *testing.T) {
	t.Parallel()
	const keys = 50_000
	large, small := memo.New[int](8*keys), memo.New[int](64)
	for _, row := range []struct {
		behind *memo.Memo[int]
		all    bool
	}{{large, true}, {small, false}} {
		near, other := memo.NewNear(row.behind), memo.NewNear(row.behind)
		known := 0
		for i := range keys {
			near.Put(wordOf(i), i)
		}
		for i := range 2 * keys {
			for _, one := range []*memo.Near[int]{near, other} {
				v, ok := one.Get(wordOf(i))
				if ok {
					known++
				}
				if ok && v != i || ok && i >= keys {
					t.Fatalf("%d: got %d, %v", i, v, ok)
				}
			}
		}
		if known == 0 || row.all && known != 2*keys {
			t.Errorf("knows %d of %d keys, twice", known, keys)
		}
	}
}

// wordOf is a word for each number, some alike but for their ends, some too long for a Near.
func wordOf(i int) string {
	return strings.Repeat("abcdefgh", i%3) + strconv.Itoa(i)
}

func TestNearWithoutAKey(t *testing.T) {
	t.Parallel()
	near := memo.NewNear(memo.New[int](64))
	for _, key := range []string{"", strings.Repeat("x", 1000)} {
		near.Put(key, 1)
		if v, ok := near.Get(key); ok {
			t.Errorf("%.5q: got %d", key, v)
		}
	}
}
