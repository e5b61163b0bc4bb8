package vector

import "math"

// Top is what Pick needs, to be used again for the next. The zero value is ready.
type Top struct{ keys, sample []uint64 }

// Pick are the keys of the highest scores, at most limit, at least 1, of those that are least or more; of equal ones the
// first. Place tells where they were. They come in no order, and are good until the next Pick. The scores are numbers,
// and told apart by as much of them as fits 32 bits.
func Pick[T float32 | float64](t *Top, scores []T, limit int, least float32) []uint64 {
	limit = max(1, limit)
	floor := max(least, guess(t, scores, limit))
	t.keys = over(t.keys[:0], scores, floor)
	if len(t.keys) < limit && floor > least { // guessed too high
		t.keys = over(t.keys[:0], scores, least)
	}
	return Lowest(t.keys, limit)
}

// sampled is how many scores a guess is made of: it takes some microseconds, and a few hundred too many are picked by it.
const sampled = 512

// guess is what somewhat more than limit scores reach, by a sample of them; less than any when that is too few to tell.
func guess[T float32 | float64](t *Top, scores []T, limit int) float32 {
	expected := float64(limit) * sampled / float64(len(scores)+1)
	last := int(expected + 3*math.Sqrt(expected) + 2) // three standard deviations more
	if len(scores) < 2*sampled || last >= sampled/2 {
		return float32(math.Inf(-1))
	}
	t.sample = t.sample[:0]
	for i := range sampled {
		t.sample = append(t.sample, Key(-float32(scores[i*len(scores)/sampled]), 0))
	}
	return -valueOf(selectKey(t.sample, last))
}

// over adds the keys of the scores that reach the floor.
func over[T float32 | float64](keys []uint64, scores []T, floor float32) []uint64 {
	below := T(math.Nextafter32(floor, float32(math.Inf(-1)))) // what is less than that is not rounded to the floor
	for place, score := range scores {
		if score < below {
			continue
		}
		if rounded := float32(score); rounded >= floor {
			keys = append(keys, Key(-rounded, place))
		}
	}
	return keys
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

// Lowest puts the lowest n keys first, in no order, and returns them: all where there are no more.
func Lowest(keys []uint64, n int) []uint64 {
	if n >= len(keys) {
		return keys
	}
	if n <= 0 {
		return keys[:0]
	}
	selectKey(keys, n-1)
	return keys[:n]
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
