//go:build !amd64

package vector

// wide says that the processor has instructions that are used here.
const wide = false

func dot(a, b, _ []float32) float32 { return dotPlain(a, b) }

// sumsWide is not called: there are no signs.
func sumsWide(*[blockVectors]uint16, *byte, *byte, int) { panic("vector: no instructions for it") }
