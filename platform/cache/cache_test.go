package cache_test

import (
	"strconv"
	"sync"
	"testing"

	"parlance.dev/parlance/platform/cache"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	c := cache.New[string, int](100)
	if _, ok := c.Get("river"); ok {
		t.Fatal("an empty cache has a value")
	}
	c.Set("river", 5)
	c.Set("stream", 6)
	c.Set("river", 7)
	if value, ok := c.Get("river"); value != 7 || !ok {
		t.Errorf("got %d, %v after the value was replaced", value, ok)
	}
	c.Delete("river")
	c.Delete("brook")
	if _, ok := c.Get("river"); ok {
		t.Error("a deleted value is there")
	}
	c.Clear()
	if _, ok := c.Get("stream"); ok {
		t.Error("a value is there after Clear")
	}
}

// TestEviction asks for one key all the time, and for very many others once.
func TestEviction(t *testing.T) {
	t.Parallel()
	const maxEntries = 640
	c := cache.New[string, int](maxEntries)
	c.Set("the", 1)
	for i := range 100 * maxEntries {
		c.Set(strconv.Itoa(i), i)
		if _, ok := c.Get("the"); !ok {
			t.Fatalf("a key in use was evicted after %d others", i)
		}
	}
	kept := 0
	for i := range 100 * maxEntries {
		if value, ok := c.Get(strconv.Itoa(i)); ok {
			if kept++; value != i {
				t.Fatalf("%d: got %d", i, value)
			}
		}
	}
	if kept < maxEntries/4 || kept > maxEntries {
		t.Errorf("%d of at most %d entries are kept", kept, maxEntries)
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	const maxBytes, valueBytes = 100_000, 1000
	c := cache.NewSized[int](maxBytes, func(value []byte) int { return len(value) })
	for i := range 1000 {
		c.Set(i, make([]byte, valueBytes))
	}
	kept := 0
	for i := range 1000 {
		if value, ok := c.Get(i); ok {
			kept += len(value)
		}
	}
	if kept < maxBytes/2 || kept > maxBytes {
		t.Errorf("values of %d bytes are kept, at most %d", kept, maxBytes)
	}
	c.Clear()
	c.Set(1, make([]byte, maxBytes))
	if _, ok := c.Get(1); ok {
		t.Error("a value is kept that is larger than the cache")
	}
	c.Set(1, make([]byte, maxBytes/2))
	if value, _ := c.Get(1); len(value) != maxBytes/2 {
		t.Error("a value of half the cache is not kept in an empty one")
	}
	c.Set(1, make([]byte, maxBytes))
	if value, ok := c.Get(1); ok {
		t.Errorf("a value of %d bytes is kept where a larger one was set", len(value))
	}
}

func TestHasRoom(t *testing.T) {
	t.Parallel()
	const maxBytes = 10_000
	c := cache.NewSized[int](maxBytes, func(value []byte) int { return len(value) })
	if !c.HasRoom(maxBytes) || c.HasRoom(maxBytes+1) {
		t.Error("an empty cache has another room than its own")
	}
	c.Set(1, make([]byte, maxBytes/2))
	if c.HasRoom(maxBytes/2) || !c.HasRoom(maxBytes/4) {
		t.Error("a cache that is half full has room for another half, or for less than a quarter")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := cache.New[string, int](256)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 5000 {
				key := strconv.Itoa(i % 700)
				if value, ok := c.Get(key); ok && value != i%700 {
					t.Errorf("%s: got %d", key, value)
				}
				c.Set(key, i%700)
			}
		})
	}
	all.Wait()
}
