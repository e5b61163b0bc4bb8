package audio_test

import (
	"fmt"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// BenchmarkResample measures one second of sound in frames of 20 ms. A voice needs one resampler in
// each direction, so 300 voices at once need 600 times as much each second.
func BenchmarkResample(b *testing.B) {
	for _, rates := range [][2]int{
		{8000, 16000},
		{24000, 16000},
		{16000, 24000},
		{24000, 8000},
		{16000, 8000},
		{48000, 16000},
		{16000, 48000},
		{44100, 16000},
		{16000, 44100},
		{22050, 16000},
		{22050, 8000},
	} {
		b.Run(fmt.Sprintf("%d to %d", rates[0], rates[1]), func(b *testing.B) {
			r := newResampler(b, rates[0], rates[1])
			second := tone(1000, 0.5, rates[0], rates[0])
			frame := rates[0] / 50
			out := make([]int16, 0, rates[1])
			b.ReportAllocs()
			for b.Loop() {
				for start := 0; start < len(second); start += frame {
					out = r.AppendResample(out[:0], second[start:start+frame])
				}
			}
		})
	}
}

// BenchmarkCodecs measures one second of sound in each direction.
func BenchmarkCodecs(b *testing.B) {
	for _, format := range []audio.Format{
		{Encoding: audio.PCM16, RateHz: 24000}, {Encoding: audio.MuLaw, RateHz: 8000}, {Encoding: audio.ALaw, RateHz: 8000},
	} {
		samples := tone(1000, 0.5, format.RateHz, format.RateHz)
		encoded := format.AppendEncode(nil, samples)
		b.Run("encode "+format.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encoded = format.AppendEncode(encoded[:0], samples)
			}
		})
		b.Run("decode "+format.String(), func(b *testing.B) {
			b.ReportAllocs()
			decoder := audio.Decoder{Format: format}
			for b.Loop() {
				samples = decoder.AppendDecode(samples[:0], encoded)
			}
		})
	}
}

// BenchmarkLevel measures a frame of 20 ms at 24,000 Hz.
func BenchmarkLevel(b *testing.B) {
	frame := tone(1000, 0.5, 24000, 480)
	for b.Loop() {
		audio.Level(frame)
	}
}
