package audio

import "math/bits"

// G.711 writes a sample as a sign, a segment of 3 bits and a step of 4 bits within the segment. A
// segment is twice as wide as the one below it, so loud samples are rounded more than quiet ones.

// µ-law looks at the upper 14 bits of a sample and A-law at the upper 12, so their tables of codes
// have an entry for each of those and none for the bits below.
const (
	muLawShift = 2
	aLawShift  = 4
)

// The codes of samples, whose index is uint16(sample) >> shift, and the samples of codes.
var (
	muLawCodes   = muLawCodeTable()
	aLawCodes    = aLawCodeTable()
	muLawSamples = sampleTable(muLawSample)
	aLawSamples  = sampleTable(aLawSample)
)

func muLawCodeTable() (table [1 << (16 - muLawShift)]byte) {
	for i := range table {
		table[i] = muLawCode(int16(i << muLawShift))
	}
	return table
}

func aLawCodeTable() (table [1 << (16 - aLawShift)]byte) {
	for i := range table {
		table[i] = aLawCode(int16(i << aLawShift))
	}
	return table
}

func sampleTable(sample func(code byte) int16) (table [256]int16) {
	for code := range table {
		table[code] = sample(byte(code))
	}
	return table
}

// muLawBias is added to a magnitude of 14 bits, so that each segment begins at a power of two: the
// first at 1<<5 and the last at 1<<12. muLawMax is the largest magnitude below the last segment's
// end at 1<<13.
const (
	muLawBias = 33
	muLawMax  = 1<<13 - 1 - muLawBias
)

// muLawCode is the code of a sample: its bits inverted, with the sign bit clear for a negative one.
func muLawCode(sample int16) byte {
	sign, magnitude := byte(0), int(sample)
	if sample < 0 {
		sign, magnitude = 0x80, int(^sample) // the complement, as G.191 has it: -1 becomes 0
	}
	biased := min(magnitude>>muLawShift, muLawMax) + muLawBias
	segment := bits.Len(uint(biased)) - 6
	step := biased >> (segment + 1) & 0x0f
	return ^(sign | byte(segment<<4|step))
}

// muLawSample is the middle of the step that a code stands for.
func muLawSample(code byte) int16 {
	code = ^code
	segment, step := int(code>>4&7), int(code&0x0f)
	magnitude := (2*step+muLawBias)<<segment - muLawBias
	if code&0x80 != 0 {
		magnitude = -magnitude
	}
	return int16(magnitude << muLawShift)
}

// aLawToggle inverts every other bit of a code, so that silence has many changes on the line.
const aLawToggle = 0x55

// aLawCode is the code of a sample: the sign bit is set for a positive one. The first two segments
// have steps of the same width.
func aLawCode(sample int16) byte {
	sign, magnitude := byte(0x80), int(sample)
	if sample < 0 {
		sign, magnitude = 0, int(^sample) // as in muLawCode
	}
	magnitude >>= aLawShift
	segment := max(bits.Len(uint(magnitude))-4, 0)
	step := magnitude >> max(segment-1, 0) & 0x0f
	return (sign | byte(segment<<4|step)) ^ aLawToggle
}

// aLawSample is the middle of the step that a code stands for.
func aLawSample(code byte) int16 {
	code ^= aLawToggle
	segment, step := int(code>>4&7), int(code&0x0f)
	magnitude := 2*step + 1 // in halves of the narrowest step
	if segment > 0 {
		magnitude = (magnitude + 32) << (segment - 1)
	}
	magnitude <<= aLawShift - 1
	if code&0x80 == 0 {
		magnitude = -magnitude
	}
	return int16(magnitude)
}
