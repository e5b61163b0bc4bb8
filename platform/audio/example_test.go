package audio_test

import (
	"bytes"
	"fmt"

	"parlance.dev/parlance/platform/audio"
)

// A telephone's sound comes in frames of 20 ms and is wanted at 16,000 Hz.
func Example() {
	format, _ := audio.Parse("g711_ulaw")
	decoder := audio.Decoder{Format: format}
	resampler, err := audio.NewResampler(format.RateHz, 16000)
	if err != nil {
		fmt.Println(err)
		return
	}
	frame := bytes.Repeat([]byte{0x1e, 0x0b, 0x0b, 0x1e, 0x9e, 0x8b, 0x8b, 0x9e}, 20) // a tone
	var decoded, samples []int16                                                      // used again for each frame
	total := 0
	for range 50 {
		decoded = decoder.AppendDecode(decoded[:0], frame)
		samples = resampler.AppendResample(samples[:0], decoded)
		total += len(samples)
	}
	fmt.Printf("%d samples so far, the last frame has %d and %.1f dBFS\n", total, len(samples), audio.Level(samples))
	fmt.Println("delayed by", resampler.Delay())
	// Output:
	// 15944 samples so far, the last frame has 320 and -6.2 dBFS
	// delayed by 3.5ms
}
