package audio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"parlance.dev/parlance/platform/audio"
)

// le writes little-endian numbers and strings one after the other.
func le(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			b = append(b, part...)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, part)
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, part)
		case []byte:
			b = append(b, part...)
		}
	}
	return b
}

// fmtPCM is the chunk that says: PCM16, 16,000 Hz, one channel.
var fmtPCM = le("fmt ", uint32(16), uint16(1), uint16(1), uint32(16000), uint32(32000), uint16(2), uint16(16))

// wav is a file of the chunks.
func wav(chunks ...any) []byte {
	body := le(chunks...)
	return le("RIFF", uint32(4+len(body)), "WAVE", body)
}

// TestWAVBytes compares files with the bytes that the specification asks for.
func TestWAVBytes(t *testing.T) {
	t.Parallel()
	const unknown = uint32(math.MaxUint32)
	for name, row := range map[string]struct{ got, want []byte }{
		"PCM16": {
			audio.AppendWAV(nil, pcm16At16000, 1, []int16{1, -2}),
			le("RIFF", uint32(40), "WAVE", fmtPCM, "data", uint32(4), []byte{1, 0, 0xfe, 0xff}),
		},
		"two channels, half a frame too many": {
			audio.AppendWAV(nil, audio.Default, 2, []int16{1, 2, 3}),
			le("RIFF", uint32(40), "WAVE", "fmt ", uint32(16), uint16(1), uint16(2), uint32(24000), uint32(96000), uint16(4), uint16(16),
				"data", uint32(4), []byte{1, 0, 2, 0}),
		},
		"an odd number of bytes": {
			audio.AppendWAV(nil, muLaw, 1, []int16{0, 0, 0}),
			le("RIFF", uint32(54), "WAVE", "fmt ", uint32(18), uint16(7), uint16(1), uint32(8000), uint32(8000), uint16(1), uint16(8), uint16(0),
				"fact", uint32(4), uint32(3), "data", uint32(3), []byte{0xff, 0xff, 0xff, 0}),
		},
		"an unknown length": {
			audio.AppendWAVHeader(nil, aLaw, 2, audio.UnknownLength),
			le("RIFF", unknown, "WAVE", "fmt ", uint32(18), uint16(6), uint16(2), uint32(8000), uint32(16000), uint16(2), uint16(8), uint16(0),
				"fact", uint32(4), unknown, "data", unknown),
		},
		"4 GiB": {
			audio.AppendWAVHeader(nil, pcm16At16000, 1, 1<<31),
			le("RIFF", unknown, "WAVE", fmtPCM, "data", unknown),
		},
	} {
		if !bytes.Equal(row.got, row.want) {
			t.Errorf("%s:\ngot  % x\nwant % x", name, row.got, row.want)
		}
	}
}

// TestWAVRoundTrip writes and reads files of every format, and of every way to say the length.
func TestWAVRoundTrip(t *testing.T) {
	t.Parallel()
	for _, format := range audio.Formats() {
		for channels := 1; channels <= 2; channels++ {
			// Decoded once, the samples are those that the format can say.
			decoder := audio.Decoder{Format: format}
			samples := decoder.AppendDecode(nil, format.AppendEncode(nil, noise(6, 6)))
			frames := len(samples) / channels
			encoded := format.AppendEncode(nil, samples)
			for name, file := range map[string][]byte{
				"whole":    audio.AppendWAV(nil, format, channels, samples),
				"known":    append(audio.AppendWAVHeader(nil, format, channels, frames), encoded...),
				"streamed": append(audio.AppendWAVHeader(nil, format, channels, audio.UnknownLength), encoded...),
			} {
				reader, err := audio.NewWAVReader(iotest.OneByteReader(bytes.NewReader(file)))
				if err != nil {
					t.Fatalf("%v, %s: %v", format, name, err)
				}
				read, err := io.ReadAll(reader)
				if err != nil || reader.Format != format || reader.Channels != channels || !bytes.Equal(read, encoded) {
					t.Errorf("%v, %d channels, %s: read %v, %d channels, % x, %v", format, channels, name, reader.Format, reader.Channels, read, err)
				}
				mono, rateHz, err := audio.ReadWAV(bytes.NewReader(file), len(encoded))
				if want := audio.AppendMono(nil, samples, channels); err != nil || rateHz != format.RateHz || !slices.Equal(mono, want) {
					t.Errorf("%v, %d channels, %s: read %v at %d Hz, %v; want %v", format, channels, name, mono, rateHz, err, want)
				}
			}
		}
	}
}

// TestOddWAV reads what real programs write.
func TestOddWAV(t *testing.T) {
	t.Parallel()
	two := []byte{1, 0, 2, 0}
	extensible := le("fmt ", uint32(40), uint16(0xfffe), uint16(1), uint32(16000), uint32(32000), uint16(2), uint16(16),
		uint16(22), uint16(16), uint32(4), uint16(1), []byte("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"))
	for name, row := range map[string]struct {
		file []byte
		want []int16
	}{
		"chunks before":         {wav("LIST", uint32(4), "INFO", fmtPCM, "junk", uint32(0), "data", uint32(4), two), []int16{1, 2}},
		"a chunk of odd length": {wav(fmtPCM, "junk", uint32(3), "abc\x00", "data", uint32(4), two), []int16{1, 2}},
		"chunks after":          {wav(fmtPCM, "data", uint32(4), two, "LIST", uint32(4), "INFO"), []int16{1, 2}},
		"an extension":          {wav(extensible, "data", uint32(4), two), []int16{1, 2}},
		"a long description": {
			wav("fmt ", uint32(17), fmtPCM[8:], "x\x00", "data", uint32(4), two), []int16{1, 2},
		},
		"cut":                    {wav(fmtPCM, "data", uint32(8), two), []int16{1, 2}},
		"cut in a sample":        {wav(fmtPCM, "data", uint32(4), two[:3]), []int16{1}},
		"unknown, by sox":        {le("RIFF", uint32(0x7ffff024), "WAVE", fmtPCM, "data", uint32(0x7ffff000), two), []int16{1, 2}},
		"unknown, all zero":      {le("RIFF", uint32(0), "WAVE", fmtPCM, "data", uint32(0), two), []int16{1, 2}},
		"unknown, header's only": {le("RIFF", uint32(36), "WAVE", fmtPCM, "data", uint32(0), two), []int16{1, 2}},
		"no samples, then more":  {wav(fmtPCM, "data", uint32(0), "LIST", uint32(4), "INFO"), nil},
		"no samples":             {wav(fmtPCM, "data", uint32(0)), nil},
	} {
		got, rateHz, err := audio.ReadWAV(bytes.NewReader(row.file), 100)
		if err != nil || rateHz != 16000 || !slices.Equal(got, row.want) {
			t.Errorf("%s: read %v at %d Hz, %v; want %v", name, got, rateHz, err, row.want)
		}
	}
}

// TestNotWAV reads what is refused, and checks that the error says why.
func TestNotWAV(t *testing.T) {
	t.Parallel()
	describe := func(code, channels uint16, rateHz uint32, bits uint16) []byte {
		return wav("fmt ", uint32(16), code, channels, rateHz, uint32(0), uint16(0), bits, "data", uint32(4), "1234")
	}
	for name, row := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                    {nil, "ends before the samples"},
		"an MP3":                   {[]byte("ID3\x04\x00\x00\x00\x00\x00\x00 and more"), "does not begin with RIFF"},
		"another RIFF":             {le("RIFF", uint32(4), "AVI ", "LIST"), "does not begin with RIFF"},
		"no description":           {wav("data", uint32(4), "1234"), "nothing before the samples"},
		"no samples' chunk":        {wav(fmtPCM), "ends before the samples"},
		"a short description":      {wav("fmt ", uint32(4), "1234", "data", uint32(0)), "has 4 bytes, 16 are needed"},
		"a description of 4 GiB":   {wav("fmt ", uint32(math.MaxUint32), fmtPCM[8:], "data", uint32(0)), "ends before the samples"},
		"24 bits":                  {describe(1, 1, 16000, 24), "24 bits"},
		"float":                    {describe(3, 1, 16000, 32), "encoding 3"},
		"8 bits":                   {describe(1, 1, 16000, 8), "8 bits"},
		"µ-law at a strange rate":  {describe(7, 1, 16000, 8), "16000 Hz"},
		"a strange rate":           {describe(1, 1, 11025, 16), "11025 Hz"},
		"no channels":              {describe(1, 0, 16000, 16), "0 channels"},
		"many channels":            {describe(1, 6, 16000, 16), "6 channels"},
		"an extension without end": {describe(0xfffe, 1, 16000, 16), "encoding 65534"},
	} {
		_, _, err := audio.ReadWAV(bytes.NewReader(row.file), 100)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, row.want)
		}
	}
}

// endless reads "JUNK" again and again, which as a chunk has a length of 1.2 GB.
type endless struct{ bytes int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "JUNK"[(e.bytes+i)%4]
	}
	e.bytes += len(p)
	return len(p), nil
}

// TestWAVIsBounded checks that a file cannot make its reader read or keep more than it should.
func TestWAVIsBounded(t *testing.T) {
	t.Parallel()
	junk := &endless{}
	_, err := audio.NewWAVReader(io.MultiReader(bytes.NewReader(le("RIFF", uint32(0), "WAVE")), junk))
	if err == nil || !strings.Contains(err.Error(), "do not begin within 1048576 bytes") || junk.bytes > 1<<20 {
		t.Errorf("after %d bytes of junk: %v", junk.bytes, err)
	}
	file := wav(fmtPCM, "data", uint32(8), "12345678")
	if _, _, err := audio.ReadWAV(bytes.NewReader(file), 7); err == nil || !strings.Contains(err.Error(), "more than 7 bytes") {
		t.Errorf("8 bytes where 7 are allowed: %v", err)
	}
	sound := &endless{}
	unknown := audio.AppendWAVHeader(nil, audio.Default, 1, audio.UnknownLength)
	_, _, err = audio.ReadWAV(io.MultiReader(bytes.NewReader(unknown), sound), 1000)
	if err == nil || sound.bytes > 1001 {
		t.Errorf("after %d bytes of endless sound: %v", sound.bytes, err)
	}
}

// TestBrokenSource checks that the error of a connection that broke is not taken for the end.
func TestBrokenSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	file := wav(fmtPCM, "data", uint32(100), "1234")
	for _, size := range []int{4, 20, len(file)} {
		for _, cause := range []error{broken, io.ErrUnexpectedEOF} {
			source := io.MultiReader(bytes.NewReader(file[:size]), iotest.ErrReader(cause))
			if _, _, err := audio.ReadWAV(source, 100); err == nil || errors.Is(cause, broken) && !errors.Is(err, broken) {
				t.Errorf("broken after %d bytes by %v: %v", size, cause, err)
			}
		}
	}
}

// FuzzReadWAV checks that no file breaks the reader or gives more than is allowed, and that what it
// reads is what it reads again from a file that is written of it.
func FuzzReadWAV(f *testing.F) {
	f.Add(wav(fmtPCM, "data", uint32(4), "1234"))
	f.Add(audio.AppendWAV(nil, muLaw, 2, []int16{1, 2, 3, 4}))
	f.Add(append(audio.AppendWAVHeader(nil, aLaw, 1, audio.UnknownLength), 1, 2, 3))
	f.Add(wav("LIST", uint32(3), "abc\x00", fmtPCM, "data", uint32(math.MaxUint32), "1"))
	f.Add(wav("fmt ", uint32(math.MaxUint32), "data"))
	f.Fuzz(func(t *testing.T, file []byte) {
		const maxBytes = 64
		mono, rateHz, err := audio.ReadWAV(bytes.NewReader(file), maxBytes)
		if err != nil {
			return
		}
		format := audio.Format{Encoding: audio.PCM16, RateHz: rateHz}
		if len(mono) > maxBytes || !format.IsKnown() {
			t.Fatalf("%d samples at %d Hz", len(mono), rateHz)
		}
		again, rateAgainHz, err := audio.ReadWAV(bytes.NewReader(audio.AppendWAV(nil, format, 1, mono)), 2*maxBytes)
		if err != nil || rateAgainHz != rateHz || !slices.Equal(again, mono) {
			t.Errorf("read %v, then %v, %v", mono, again, err)
		}
	})
}
