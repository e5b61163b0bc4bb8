// Package pcm writes and reads the audio of speech services: signed samples of 16 bits in little
// endian, bare or in a WAV file.
package pcm

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Append appends samples to buffer as bytes.
func Append(buffer []byte, samples []int16) []byte {
	for _, s := range samples {
		buffer = binary.LittleEndian.AppendUint16(buffer, uint16(s))
	}
	return buffer
}

// Samples are the samples in whole pairs of bytes; an odd last byte is left out.
func Samples(data []byte) []int16 {
	samples := make([]int16, len(data)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return samples
}

// WAV is a WAV file with one channel.
func WAV(samples []int16, rate int) []byte {
	const headerBytes = 44
	dataBytes := uint32(2 * len(samples))
	file := make([]byte, 0, headerBytes+int(dataBytes))
	file = append(file, "RIFF"...)
	file = binary.LittleEndian.AppendUint32(file, headerBytes-8+dataBytes)
	file = append(file, "WAVEfmt "...)
	file = binary.LittleEndian.AppendUint32(file, 16)             // bytes of the format
	file = binary.LittleEndian.AppendUint16(file, formatPCM)      //
	file = binary.LittleEndian.AppendUint16(file, 1)              // channels
	file = binary.LittleEndian.AppendUint32(file, uint32(rate))   //
	file = binary.LittleEndian.AppendUint32(file, uint32(2*rate)) // bytes a second
	file = binary.LittleEndian.AppendUint16(file, 2)              // bytes of all channels' samples
	file = binary.LittleEndian.AppendUint16(file, 16)             // bits
	file = append(file, "data"...)
	file = binary.LittleEndian.AppendUint32(file, dataBytes)
	return Append(file, samples)
}

// The formats of WAV files that are read. An extensible header names the real format further down;
// with 16 bits it is PCM.
const (
	formatPCM        = 1
	formatExtensible = 0xFFFE
)

const (
	// maxHeaderBytes bounds what comes before the samples.
	maxHeaderBytes = 64 << 10
	// unknownBytes is the length from which on a program that writes to a pipe does not know it.
	unknownBytes = 0x7FFF0000
	minRate      = 8000
	maxRate      = 48000
)

// ErrNotPCM is the error for audio in another form.
var ErrNotPCM = errors.New("not PCM of 16 bits")

// Decoder reads audio that comes in pieces, cut anywhere: bare samples, or a WAV file with one or
// two channels. Two channels become one.
type Decoder struct {
	// Rate is that of bare samples; the header of a WAV file replaces it.
	Rate int

	held     []byte // what cannot be decoded yet
	sniffed  bool
	channels int
	left     int64 // bytes of samples to come, or -1
}

// Decode returns the samples that are complete. Errors: ErrNotPCM.
func (d *Decoder) Decode(data []byte) ([]int16, error) {
	data = append(d.held, data...)
	d.held = nil
	if !d.sniffed {
		rest, ok, err := d.sniff(data)
		if err != nil {
			return nil, err
		}
		if !ok {
			d.held = data
			return nil, nil
		}
		d.sniffed = true
		data = rest
	}
	if d.left >= 0 {
		data = data[:min(int64(len(data)), d.left)]
	}
	whole := len(data) - len(data)%(2*d.channels)
	if d.left >= 0 {
		d.left -= int64(whole)
	}
	d.held = append(d.held, data[whole:]...)
	samples := Samples(data[:whole])
	if d.channels == 2 {
		samples = mixed(samples)
	}
	return samples, nil
}

// sniff looks at the beginning of the audio. It returns what follows a header, and false when more
// bytes are needed.
func (d *Decoder) sniff(data []byte) (rest []byte, ok bool, err error) {
	if len(data) < 4 {
		return nil, false, nil
	}
	switch mark := string(data[:4]); {
	case mark == "RIFF":
		return d.header(data)
	case mark == "OggS" || mark == "fLaC" || mark[:3] == "ID3":
		return nil, false, fmt.Errorf("%w: the audio begins with %q", ErrNotPCM, mark[:3])
	}
	d.channels, d.left = 1, -1
	return data, true, nil
}

// header reads the chunks before the samples.
func (d *Decoder) header(data []byte) (rest []byte, ok bool, err error) {
	const chunkHeader = 8
	at := 12 // RIFF, length, WAVE
	for len(data) >= at+chunkHeader {
		name, size := string(data[at:at+4]), int64(binary.LittleEndian.Uint32(data[at+4:]))
		at += chunkHeader
		if name == "data" {
			if d.channels == 0 {
				return nil, false, fmt.Errorf("%w: a WAV file without a format", ErrNotPCM)
			}
			if d.left = size; size == 0 || size >= unknownBytes {
				d.left = -1
			}
			return data[at:], true, nil
		}
		if size > maxHeaderBytes {
			return nil, false, fmt.Errorf("%w: a WAV header that does not end", ErrNotPCM)
		}
		if int64(len(data)) < int64(at)+size {
			break
		}
		if name == "fmt " {
			if err := d.format(data[at : at+int(size)]); err != nil {
				return nil, false, err
			}
		}
		at += int(size + size%2)
	}
	if len(data) > maxHeaderBytes {
		return nil, false, fmt.Errorf("%w: a WAV header that does not end", ErrNotPCM)
	}
	return nil, false, nil
}

func (d *Decoder) format(chunk []byte) error {
	if len(chunk) < 16 {
		return fmt.Errorf("%w: a WAV format of %d bytes", ErrNotPCM, len(chunk))
	}
	format, channels := binary.LittleEndian.Uint16(chunk), int(binary.LittleEndian.Uint16(chunk[2:]))
	rate, bits := int(binary.LittleEndian.Uint32(chunk[4:])), binary.LittleEndian.Uint16(chunk[14:])
	if format != formatPCM && format != formatExtensible || bits != 16 || channels < 1 || channels > 2 || rate < minRate || rate > maxRate {
		return fmt.Errorf("%w: a WAV file with format %d, %d bits, %d channels at %d Hz", ErrNotPCM, format, bits, channels, rate)
	}
	d.channels, d.Rate = channels, rate
	return nil
}

// mixed is the mean of two channels.
func mixed(both []int16) []int16 {
	one := both[:len(both)/2]
	for i := range one {
		one[i] = int16((int(both[2*i]) + int(both[2*i+1])) / 2)
	}
	return one
}
