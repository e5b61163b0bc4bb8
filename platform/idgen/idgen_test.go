package idgen_test

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/platform/idgen"
)

func TestNewIsValidAndItsOwnKind(t *testing.T) {
	t.Parallel()
	id := idgen.New(idgen.Source)
	if !idgen.Valid(idgen.Source, id) {
		t.Errorf("Valid(src_, %q) = false", id)
	}
	if idgen.Valid(idgen.Agent, id) {
		t.Errorf("Valid(agt_, %q) = true", id)
	}
}

func TestValidRefuses(t *testing.T) {
	t.Parallel()
	good := idgen.New(idgen.Turn)
	rows := map[string]string{
		"empty":          "",
		"prefix alone":   "turn_",
		"short":          good[:len(good)-1],
		"long":           good + "0",
		"upper case":     "turn_" + strings.ToUpper(good[5:]),
		"letter u":       good[:len(good)-1] + "u",
		"not ASCII":      good[:len(good)-2] + "é",
		"over 128 bits":  "turn_8" + good[6:],
		"space in front": " " + good,
	}
	for name, id := range rows {
		if idgen.Valid(idgen.Turn, id) {
			t.Errorf("%s: Valid(%q) = true", name, id)
		}
	}
}

// TestOrder holds ids in order within a millisecond, when the clock steps back, and when the
// random part overflows.
func TestOrder(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_780_000_000_000)
	clock := []time.Duration{0, 0, 0, time.Millisecond, -time.Hour, -time.Hour, 2 * time.Millisecond}
	tick := 0
	now := func() time.Time { tick++; return start.Add(clock[(tick-1)%len(clock)]) }
	// All ones: the first increment of each millisecond overflows all 80 bits.
	for name, random := range map[string]byteReader{"ones": 0xff, "zeroes": 0} {
		generator := idgen.NewGenerator(now, random)
		last := ""
		for range 50 {
			id := generator.New(idgen.Event)
			if id <= last {
				t.Fatalf("%s: %q is not after %q", name, id, last)
			}
			last = id
		}
	}
}

func TestTimeLeads(t *testing.T) {
	t.Parallel()
	at := func(ms int64) string {
		g := idgen.NewGenerator(func() time.Time { return time.UnixMilli(ms) }, rand.Reader)
		return g.New(idgen.Chunk)
	}
	if early, late := at(1_780_000_000_000), at(1_780_000_000_001); early >= late {
		t.Errorf("%q is not before %q", early, late)
	}
	// The known encoding of 2^48-1 ms with no random bits.
	g := idgen.NewGenerator(func() time.Time { return time.UnixMilli(1<<48 - 1) }, byteReader(0))
	if got, want := g.New(idgen.Chunk), "chk_7zzzzzzzzz0000000000000000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConcurrentIdsDiffer(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 500
	made := make([][]string, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for range each {
				made[w] = append(made[w], idgen.New(idgen.Delivery))
			}
		})
	}
	wait.Wait()
	for _, own := range made {
		if !slices.IsSorted(own) {
			t.Error("one goroutine's ids are out of order")
		}
	}
	all := slices.Concat(made...)
	slices.Sort(all)
	if got := len(slices.Compact(all)); got != workers*each {
		t.Errorf("%d distinct ids, want %d", got, workers*each)
	}
}

func TestUUID(t *testing.T) {
	t.Parallel()
	first, second := idgen.UUID(), idgen.UUID()
	if !idgen.ValidUUID(first) || first[14] != '7' || first >= second {
		t.Errorf("UUIDs %q, %q", first, second)
	}
	for _, bad := range []string{
		"", "builtin:search", strings.ToUpper("0198a5b0-aaaa-7000-8000-00000000000a"), "{" + first + "}",
		strings.ReplaceAll(first, "-", ""),
	} {
		if idgen.ValidUUID(bad) {
			t.Errorf("ValidUUID(%q) = true", bad)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	key := idgen.NewKey(rand.Reader)
	if len(key) != 53 || !idgen.CheckKey(key) {
		t.Fatalf("a new key of %d characters, CheckKey = %v", len(key), idgen.CheckKey(key))
	}
	for i := range key {
		changed := []byte(key)
		changed[i] ^= 1
		if idgen.CheckKey(string(changed)) {
			t.Errorf("CheckKey passes with character %d changed", i)
		}
	}
	if idgen.CheckKey("") || idgen.CheckKey("prl_") || idgen.CheckKey(key+"0") {
		t.Error("CheckKey passes a key of the wrong length")
	}
	// All 256 bits set is the longest number: it must not be cut. The value is pinned because keys
	// live for years.
	got := idgen.NewKey(byteReader(0xff))
	if want := "prl_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp14BEda6"; got != want {
		t.Errorf("the key of all ones is %q, want %q", got, want)
	}
}

func FuzzValid(f *testing.F) {
	f.Add("src_01k2x3y4z5a6b7c8d9e0f1g2h3")
	f.Fuzz(func(t *testing.T, id string) {
		if idgen.Valid(idgen.Source, id) && len(id) != 30 {
			t.Errorf("Valid passes %q", id)
		}
		idgen.CheckKey(id)
	})
}

// byteReader is randomness that is always the same byte.
type byteReader byte

func (r byteReader) Read(buf []byte) (int, error) {
	for i := range buf {
		buf[i] = byte(r)
	}
	return len(buf), nil
}
