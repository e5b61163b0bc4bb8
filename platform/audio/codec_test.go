package audio_test

import (
	"bytes"
	"slices"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// TestPCM16 checks the order of the bytes, and that what was in a buffer stays in it.
func TestPCM16(t *testing.T) {
	t.Parallel()
	samples := []int16{0, 1, -1, 0x1234, 32767, -32768}
	encoded := []byte{0, 0, 1, 0, 0xff, 0xff, 0x34, 0x12, 0xff, 0x7f, 0, 0x80}
	if got := audio.Default.AppendEncode([]byte{9}, samples); !bytes.Equal(got, append([]byte{9}, encoded...)) {
		t.Errorf("encoded % x", got)
	}
	decoder := audio.Decoder{Format: audio.Default}
	if got := decoder.AppendDecode([]int16{9}, encoded); !slices.Equal(got, append([]int16{9}, samples...)) {
		t.Errorf("decoded %v", got)
	}
}

// TestCutSamples cuts a stream into chunks of each small size: no sample is lost or moved.
func TestCutSamples(t *testing.T) {
	t.Parallel()
	samples := noise(1, 100)
	encoded := audio.Default.AppendEncode(nil, samples)
	for size := range 7 {
		decoder := audio.Decoder{Format: audio.Default}
		var got []int16
		for chunk := range slices.Chunk(encoded, size+1) {
			got = decoder.AppendDecode(got, chunk)
			got = decoder.AppendDecode(got, nil)
		}
		if !slices.Equal(got, samples) {
			t.Errorf("chunks of %d bytes decode to something else", size+1)
		}
	}
}

// TestReset checks that half a sample of one stream does not begin the next.
func TestReset(t *testing.T) {
	t.Parallel()
	decoder := audio.Decoder{Format: audio.Default}
	if got := decoder.AppendDecode(nil, []byte{1, 0, 7}); !slices.Equal(got, []int16{1}) {
		t.Errorf("decoded %v", got)
	}
	decoder.Reset()
	if got := decoder.AppendDecode(nil, []byte{2, 0}); !slices.Equal(got, []int16{2}) {
		t.Errorf("after the reset decoded %v", got)
	}
}

// TestNoEncoding checks that nothing is made of a format without an encoding.
func TestNoEncoding(t *testing.T) {
	t.Parallel()
	var decoder audio.Decoder
	if got := decoder.AppendDecode(nil, []byte{1, 2}); len(got) != 0 {
		t.Errorf("decoded %v", got)
	}
	if got := (audio.Format{}).AppendEncode(nil, []int16{1}); len(got) != 0 {
		t.Errorf("encoded %v", got)
	}
}

// TestCodecsDoNotAllocate gives buffers that are large enough.
func TestCodecsDoNotAllocate(t *testing.T) { // not parallel: allocations of all goroutines are counted
	for _, format := range audio.Formats() {
		samples := noise(2, 480)
		encoded := format.AppendEncode(nil, samples)
		decoder := audio.Decoder{Format: format}
		// The first odd chunk leaves half a sample to the next, which then completes one more.
		odd := encoded[:len(encoded)-1]
		decoded := make([]int16, 0, len(samples)+1)
		allocations := testing.AllocsPerRun(10, func() {
			encoded = format.AppendEncode(encoded[:0], samples)
			decoded = decoder.AppendDecode(decoded[:0], odd)
		})
		if allocations != 0 {
			t.Errorf("%v: %v allocations", format, allocations)
		}
	}
}

// FuzzDecodeChunks checks that chunks decode to what the whole decodes to, and PCM16 to samples
// with the same bytes.
func FuzzDecodeChunks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5}, []byte{1, 0, 2}, uint8(0))
	f.Add([]byte{0xff, 0x7f, 0, 0x80, 9}, []byte{3}, uint8(3))
	f.Add([]byte{0xff, 0x7f, 0, 0x80}, []byte{}, uint8(6))
	f.Add([]byte("d5d5d5"), []byte{1, 1, 1}, uint8(7))
	f.Fuzz(func(t *testing.T, encoded, cuts []byte, number uint8) {
		format := audio.Formats()[int(number)%len(audio.Formats())]
		whole := audio.Decoder{Format: format}
		want := whole.AppendDecode(nil, encoded)
		if got := len(want); got != len(encoded)/format.BytesPerSample() {
			t.Fatalf("%d bytes of %v decode to %d samples", len(encoded), format, got)
		}
		chunked := audio.Decoder{Format: format}
		var got []int16
		rest := encoded
		for _, cut := range cuts {
			size := min(int(cut), len(rest))
			got = chunked.AppendDecode(got, rest[:size])
			rest = rest[size:]
		}
		got = chunked.AppendDecode(got, rest)
		if !slices.Equal(got, want) {
			t.Errorf("chunks of %v decode to %v, the whole to %v", format, got, want)
		}
		if format.Encoding == audio.PCM16 && !bytes.Equal(format.AppendEncode(nil, got), encoded[:2*len(got)]) {
			t.Errorf("% x was not encoded again", encoded)
		}
	})
}
