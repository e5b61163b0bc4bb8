package pcm_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/speech/internal/pcm"
)

var samples = []int16{0, 1, -1, 32767, -32768, 258, 12345}

// decode gives a decoder the data in pieces of some bytes.
func decode(t *testing.T, data []byte, pieceBytes, rate int) ([]int16, int) {
	t.Helper()
	d := pcm.Decoder{Rate: rate}
	var all []int16
	for len(data) > 0 {
		n := min(pieceBytes, len(data))
		got, err := d.Decode(data[:n])
		if err != nil {
			t.Fatal(err)
		}
		all, data = append(all, got...), data[n:]
	}
	return all, d.Rate
}

// wav is a WAV file with an extra chunk before and after the samples.
func wav(channels int, dataBytes uint32, data []byte) []byte {
	file := []byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00\x01\x00")
	file = binary.LittleEndian.AppendUint16(file, uint16(channels))
	file = binary.LittleEndian.AppendUint32(file, 22050)
	file = binary.LittleEndian.AppendUint32(file, 44100)
	file = append(file, 2, 0, 16, 0)
	file = append(file, "data"...)
	file = binary.LittleEndian.AppendUint32(file, dataBytes)
	return append(file, data...)
}

func TestDecoder(t *testing.T) {
	t.Parallel()
	bare := pcm.Append(nil, samples)
	stereo := pcm.Append(nil, []int16{10, 20, -32768, -32768, 7, -8})
	for _, row := range []struct {
		name string
		data []byte
		rate int
		want []int16
	}{
		{"bare", bare, 24000, samples},
		{"our own WAV", pcm.WAV(samples, 16000), 16000, samples},
		{"length unknown", wav(1, 0xFFFFFFFF, bare), 22050, samples},
		{"length 0", wav(1, 0, bare), 22050, samples},
		{"something behind the samples", wav(1, uint32(len(bare)), append(pcm.Append(nil, samples), "LIST\x02\x00"...)), 22050, samples},
		{"two channels", wav(2, 0xFFFFFFFF, stereo), 22050, []int16{15, -32768, 0}},
		{"an odd byte at the end", append(bare[:len(bare):len(bare)], 9), 24000, samples},
	} {
		for _, pieceBytes := range []int{1, 3, 5, 1000} {
			got, rate := decode(t, row.data, pieceBytes, 24000)
			if diff := cmp.Diff(got, row.want); diff != "" || rate != row.rate {
				t.Errorf("%s in pieces of %d bytes at %d Hz: %s", row.name, pieceBytes, rate, diff)
			}
		}
	}
}

func TestDecoderRefuses(t *testing.T) {
	t.Parallel()
	float := pcm.WAV(samples, 16000)
	float[20] = 3
	for name, data := range map[string][]byte{
		"mp3":              []byte("ID3\x04aaaa"),
		"ogg":              []byte("OggSaaaa"),
		"float":            float,
		"too fast":         pcm.WAV(samples, 96000),
		"no format":        []byte("RIFF\x00\x00\x00\x00WAVEdata\x04\x00\x00\x00abcd"),
		"an endless chunk": []byte("RIFF\x00\x00\x00\x00WAVELIST\xff\xff\xff\x00"),
	} {
		d := pcm.Decoder{}
		if got, err := d.Decode(data); !errors.Is(err, pcm.ErrNotPCM) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// FuzzDecoder: the pieces in which audio comes make no difference, and nothing makes it panic.
func FuzzDecoder(f *testing.F) {
	f.Add(pcm.WAV(samples, 16000), uint8(3))
	f.Add(pcm.Append(nil, samples), uint8(1))
	f.Add(wav(2, 0, pcm.Append(nil, samples)), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		whole := pcm.Decoder{}
		want, wantErr := whole.Decode(data)
		d := pcm.Decoder{}
		var got []int16
		var err error
		for rest := data; len(rest) > 0 && err == nil; {
			n := min(int(piece)+1, len(rest))
			var some []int16
			some, err = d.Decode(rest[:n])
			got, rest = append(got, some...), rest[n:]
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("errors %v and %v", err, wantErr)
		}
		if err == nil && string(pcm.Append(nil, got)) != string(pcm.Append(nil, want)) {
			t.Fatalf("%v in pieces, %v at once", got, want)
		}
	})
}
