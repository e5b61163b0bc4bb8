package audio

import "slices"

// AppendEncode appends samples in this format to dst. It appends nothing when the format has no
// known encoding.
func (f Format) AppendEncode(dst []byte, samples []int16) []byte {
	dst = slices.Grow(dst, len(samples)*f.BytesPerSample())
	switch f.Encoding {
	case PCM16:
		for _, sample := range samples {
			dst = append(dst, byte(sample), byte(sample>>8))
		}
	case MuLaw:
		for _, sample := range samples {
			dst = append(dst, muLawCodes[uint16(sample)>>muLawShift])
		}
	case ALaw:
		for _, sample := range samples {
			dst = append(dst, aLawCodes[uint16(sample)>>aLawShift])
		}
	}
	return dst
}

// Decoder turns the bytes of one stream into samples. Chunks may be cut anywhere, also in the
// middle of a sample. A Decoder with its Format set is ready; the format of a stream never changes.
type Decoder struct {
	Format Format

	// lowByte is the first byte of a sample whose second byte comes with the next chunk, when
	// hasLowByte is true.
	lowByte    byte
	hasLowByte bool
}

// AppendDecode appends the samples that are complete with this chunk to dst. It appends nothing
// when the format has no known encoding.
func (d *Decoder) AppendDecode(dst []int16, chunk []byte) []int16 {
	switch d.Format.Encoding {
	case PCM16:
		return d.appendPCM16(dst, chunk)
	case MuLaw:
		return appendFromTable(dst, chunk, &muLawSamples)
	case ALaw:
		return appendFromTable(dst, chunk, &aLawSamples)
	}
	return dst
}

// Reset forgets half a sample at the end of the last chunk: what comes next is another stream in
// the same format.
func (d *Decoder) Reset() { d.hasLowByte = false }

func (d *Decoder) appendPCM16(dst []int16, chunk []byte) []int16 {
	if d.hasLowByte && len(chunk) > 0 {
		dst = append(dst, pcm16(d.lowByte, chunk[0]))
		chunk, d.hasLowByte = chunk[1:], false
	}
	dst = slices.Grow(dst, len(chunk)/2)
	for ; len(chunk) >= 2; chunk = chunk[2:] {
		dst = append(dst, pcm16(chunk[0], chunk[1]))
	}
	if len(chunk) == 1 {
		d.lowByte, d.hasLowByte = chunk[0], true
	}
	return dst
}

func pcm16(low, high byte) int16 { return int16(uint16(low) | uint16(high)<<8) }

func appendFromTable(dst []int16, chunk []byte, table *[256]int16) []int16 {
	dst = slices.Grow(dst, len(chunk))
	for _, code := range chunk {
		dst = append(dst, table[code])
	}
	return dst
}
