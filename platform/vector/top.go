package vector

import (
	"math"
	"slices"
)

// Top keeps the highest of many scores, and where they were; of equal ones the first places. It is for scores that come
// in any order, far more than are kept. The zero value keeps none: use Reset.
type Top struct {
	limit int
	floor float32
	keys  []uint64
}

// Reset begins anew, for at most limit scores, at least 1.
func (t *Top) Reset(limit int) {
	t.limit, t.floor = max(1, limit), float32(math.Inf(-1))
	t.keys = slices.Grow(t.keys[:0], 2*t.limit)
}

// Floor is what a score must reach to be worth adding.
func (t *Top) Floor() float32 { return t.floor }

// Add takes a score, which is a number, and its place.
func (t *Top) Add(score float32, place int) {
	t.keys = append(t.keys, Key(-score, place))
	if len(t.keys) == 2*t.limit {
		t.trim()
	}
}

// trim leaves the limit best.
func (t *Top) trim() {
	last := selectKey(t.keys, t.limit-1)
	t.keys = t.keys[:t.limit]
	t.floor = -valueOf(last)
}

// Places are where what is kept was, in ascending order.
func (t *Top) Places() []int {
	if len(t.keys) > t.limit {
		t.trim()
	}
	places := make([]int, len(t.keys))
	for i, key := range t.keys {
		places[i] = Place(key)
	}
	slices.Sort(places)
	return places
}

// Keys are those of what is kept, the best first: Place tells where they were. They are good until the next Reset.
func (t *Top) Keys() []uint64 {
	slices.Sort(t.keys)
	t.keys = t.keys[:min(len(t.keys), t.limit)]
	return t.keys
}

const signBit = 1 << 31

// Key is a number that is in the order of values, and of places where they are equal. Places fit 32 bits.
func Key(value float32, place int) uint64 {
	bits := math.Float32bits(value + 0) // one zero only
	if bits&signBit != 0 {
		bits = ^bits
	} else {
		bits |= signBit
	}
	return uint64(bits)<<32 | uint64(uint32(place)) //nolint:gosec // said above
}

// Place is the place that a key was made of.
func Place(key uint64) int { return int(uint32(key)) } //nolint:gosec // the low half

func valueOf(key uint64) float32 {
	bits := uint32(key >> 32) //nolint:gosec // the high half
	if bits&signBit != 0 {
		return math.Float32frombits(bits &^ signBit)
	}
	return math.Float32frombits(^bits)
}

// selectKey puts the n+1 lowest keys first, and returns the highest of them. Source: Hoare, Find, 1961.
func selectKey(keys []uint64, n int) uint64 {
	low, high := 0, len(keys)-1
	for low < high {
		pivot := keys[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for keys[i] < pivot {
				i++
			}
			for keys[j] > pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return keys[n]
		}
	}
	return keys[n]
}
