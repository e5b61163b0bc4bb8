package audio

import (
	"encoding/binary"
	"math"
)

// A WAV file is "RIFF", a length, "WAVE", and chunks: each has a name of four letters, a length of
// four bytes (little-endian) and as many bytes, and one more byte when the length is odd. The
// chunk "fmt " says what the samples in the chunk "data" are. Source: Microsoft and IBM,
// Multimedia Programming Interface and Data Specifications 1.0, and RFC 2361 for the codes.

// Codes of encodings in a "fmt " chunk.
const (
	wavPCM        = 1
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe // the code is in an extension of the chunk
)

var wavCodes = map[Encoding]uint16{PCM16: wavPCM, ALaw: wavALaw, MuLaw: wavMuLaw}

const (
	// riffHeaderBytes is the length of "RIFF", the length after it, and "WAVE".
	riffHeaderBytes = 12
	// chunkHeaderBytes is the length of a chunk's name and length.
	chunkHeaderBytes = 8
	// wavFormatBytes is the length of a "fmt " chunk without extension.
	wavFormatBytes = 16
	// wavUnknownLength is written when it is not known how long the sound will be.
	wavUnknownLength = math.MaxUint32
)

// UnknownLength is the number of frames of a WAV file that is written while its sound is made.
const UnknownLength = -1

// AppendWAVHeader appends what comes before the samples in a WAV file to dst. The format is one of
// Formats, and there are 1 or 2 channels. A frame is one sample of each channel. After the samples,
// whose channels are interleaved, comes a zero byte when they have an odd number of bytes. When
// frames is UnknownLength, or makes 4 GiB and more, readers read to the end of the file.
//
// The header's length depends on the encoding alone: a file that can be written to at any place can
// begin with a header of unknown length and be given the known length later.
func AppendWAVHeader(dst []byte, f Format, channels, frames int) []byte {
	frameBytes := channels * f.BytesPerSample()
	formatBytes, factBytes := wavFormatBytes, 0
	if f.Encoding != PCM16 {
		formatBytes += 2                 // the length of an extension, 0
		factBytes = chunkHeaderBytes + 4 // a chunk with the number of frames
	}
	var dataBytes, riffBytes, factFrames uint32 = wavUnknownLength, wavUnknownLength, wavUnknownLength
	beforeData := 4 + chunkHeaderBytes + formatBytes + factBytes + chunkHeaderBytes
	if frames >= 0 && frames < (math.MaxUint32-beforeData-1)/frameBytes {
		dataBytes = uint32(frames * frameBytes)
		riffBytes = uint32(beforeData) + dataBytes + dataBytes%2
		factFrames = uint32(frames)
	}

	order := binary.LittleEndian
	dst = append(dst, "RIFF"...)
	dst = order.AppendUint32(dst, riffBytes)
	dst = append(dst, "WAVEfmt "...)
	dst = order.AppendUint32(dst, uint32(formatBytes))
	dst = order.AppendUint16(dst, wavCodes[f.Encoding])
	dst = order.AppendUint16(dst, uint16(channels))
	dst = order.AppendUint32(dst, uint32(f.RateHz))
	dst = order.AppendUint32(dst, uint32(f.RateHz*frameBytes))
	dst = order.AppendUint16(dst, uint16(frameBytes))
	dst = order.AppendUint16(dst, uint16(8*f.BytesPerSample()))
	if factBytes > 0 {
		dst = order.AppendUint16(dst, 0)
		dst = append(dst, "fact"...)
		dst = order.AppendUint32(dst, 4)
		dst = order.AppendUint32(dst, factFrames)
	}
	dst = append(dst, "data"...)
	return order.AppendUint32(dst, dataBytes)
}

// AppendWAV appends a whole WAV file to dst. The samples of more than one channel are interleaved;
// an incomplete frame at the end is left out.
func AppendWAV(dst []byte, f Format, channels int, samples []int16) []byte {
	frames := len(samples) / channels
	dst = AppendWAVHeader(dst, f, channels, frames)
	start := len(dst)
	dst = f.AppendEncode(dst, samples[:frames*channels])
	if (len(dst)-start)%2 == 1 {
		dst = append(dst, 0)
	}
	return dst
}
