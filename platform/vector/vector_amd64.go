package vector

import "golang.org/x/sys/cpu"

// wide says that the processor has AVX2.
var wide = cpu.X86.HasAVX2

func dot(a, b, soon []float32) float32 {
	if !wide || len(a) == 0 {
		return dotPlain(a, b)
	}
	if len(soon) < len(a) {
		soon = a
	}
	return dotWide(&a[0], &b[0], len(a), &soon[0])
}

// dotWide is the product of n numbers, n a multiple of 32 and at least 32. It has as many at soon fetched meanwhile.
//
//go:noescape
func dotWide(a, b *float32, n int, soon *float32) float32

// sumsWide adds for each of 32 vectors what the tables say of its nibbles; width is even.
//
//go:noescape
func sumsWide(sums *[blockVectors]uint16, block, tables *byte, width int)
