package vector

// Hadamard is the fast Hadamard transform of each block of v, in place. block is a power of two
// that divides the length. Each vector becomes √block times as long.
func Hadamard(v []float32, block int) {
	for half := 1; half < block; half *= 2 {
		for i := 0; i < len(v); i += 2 * half {
			low, high := v[i:i+half], v[i+half:i+2*half]
			for j, x := range low {
				y := high[j]
				low[j], high[j] = x+y, x-y
			}
		}
	}
}

// SplitMix64 is the next number of that generator. Rotations are made of it: vectors are stored
// rotated, so the numbers must never change.
func SplitMix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
