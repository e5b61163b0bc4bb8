package audio_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"parlance.dev/parlance/platform/audio"
)

var ratesHz = []int{8000, 16000, 22050, 24000, 44100, 48000}

// eachRatio runs a test for each pair of different rates.
func eachRatio(t *testing.T, test func(t *testing.T, fromHz, toHz int)) {
	t.Helper()
	for _, fromHz := range ratesHz {
		for _, toHz := range ratesHz {
			if fromHz == toHz {
				continue
			}
			t.Run(fmt.Sprintf("%d to %d", fromHz, toHz), func(t *testing.T) {
				t.Parallel()
				test(t, fromHz, toHz)
			})
		}
	}
}

func newResampler(t testing.TB, fromHz, toHz int) *audio.Resampler {
	t.Helper()
	r, err := audio.NewResampler(fromHz, toHz)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// resample resamples a whole sound.
func resample(t testing.TB, fromHz, toHz int, sound []int16) []int16 {
	t.Helper()
	r := newResampler(t, fromHz, toHz)
	return r.AppendFlush(r.AppendResample(nil, sound))
}

// TestChunksDoNotMatter resamples noise in one piece and in random chunks, twice with the same
// resampler.
func TestChunksDoNotMatter(t *testing.T) {
	t.Parallel()
	eachRatio(t, func(t *testing.T, fromHz, toHz int) {
		sound := noise(uint64(fromHz+toHz), 5000)
		want := resample(t, fromHz, toHz, sound)
		r := newResampler(t, fromHz, toHz)
		random := rand.New(rand.NewPCG(uint64(fromHz), uint64(toHz)))
		for range 2 {
			var got []int16
			for rest := sound; len(rest) > 0; {
				size := min(random.IntN(1<<random.IntN(12)), len(rest))
				got = r.AppendResample(got, rest[:size])
				rest = rest[size:]
			}
			if got = r.AppendFlush(got); !slices.Equal(got, want) {
				t.Fatalf("%d samples in chunks differ from %d samples in one piece", len(got), len(want))
			}
		}
	})
}

// FuzzResampleChunks checks the same for any sound and any cuts.
func FuzzResampleChunks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6}, []byte{1, 0, 2}, uint8(1), uint8(3))
	f.Add([]byte{0xff, 0x7f, 0, 0x80, 0, 0x80}, []byte{2, 2}, uint8(0), uint8(1))
	f.Add([]byte{}, []byte{}, uint8(2), uint8(4))
	f.Fuzz(func(t *testing.T, encoded, cuts []byte, from, to uint8) {
		fromHz, toHz := ratesHz[int(from)%len(ratesHz)], ratesHz[int(to)%len(ratesHz)]
		decoder := audio.Decoder{Format: audio.Default}
		rest := decoder.AppendDecode(nil, encoded)
		want := resample(t, fromHz, toHz, rest)
		if got := len(want); got != (len(rest)*toHz+fromHz-1)/fromHz {
			t.Errorf("%d samples at %d Hz became %d at %d Hz", len(rest), fromHz, got, toHz)
		}
		r := newResampler(t, fromHz, toHz)
		var got []int16
		for _, cut := range cuts {
			size := min(int(cut), len(rest))
			got = r.AppendResample(got, rest[:size])
			rest = rest[size:]
		}
		if got = r.AppendFlush(r.AppendResample(got, rest)); !slices.Equal(got, want) {
			t.Errorf("in chunks %v, in one piece %v", got, want)
		}
	})
}

// TestTones measures the filter with tones: those of the pass band keep their level and place in
// time, those that the lower rate cannot hold disappear, and none becomes another frequency.
func TestTones(t *testing.T) {
	t.Parallel()
	const (
		ripple      = 0.01 // dB
		rejectionDB = -60
		amplitude   = 0.9
	)
	eachRatio(t, func(t *testing.T, fromHz, toHz int) {
		highest := float64(min(fromHz, toHz)) / 2
		worstRipple, worstRest, worstStop := 0.0, math.Inf(-1), math.Inf(-1)
		// Multiples of 10 Hz have whole periods in the tenth of a second that is looked at.
		for frequency := 50.0; frequency < float64(fromHz)/2; frequency += 10 * math.Round(highest/170) {
			sound := resample(t, fromHz, toHz, tone(frequency, amplitude, fromHz, fromHz/5))
			middle := sound[toHz/20 : toHz/20+toHz/10]
			if frequency >= highest {
				// Everything that is there is what the frequency has become.
				worstStop = max(worstStop, audio.Level(middle)-audio.Level(tone(1000, amplitude, 8000, 8000)))
				continue
			}
			got, rest := amplitudeOf(frequency, toHz, middle)
			worstRest = max(worstRest, decibels(rest/(amplitude/math.Sqrt2)))
			if frequency > 0.85*highest {
				continue
			}
			worstRipple = max(worstRipple, math.Abs(decibels(got/amplitude)))
			start := toHz / 20
			want := tone(frequency, amplitude, toHz, start+100)[start:]
			for i := range want {
				if difference := int(want[i]) - int(sound[start+i]); difference < -80 || difference > 80 {
					t.Fatalf("%.0f Hz: sample %d is %d, want %d", frequency, start+i, sound[start+i], want[i])
				}
			}
		}
		t.Logf("ripple %.4f dB, other frequencies %.1f dB, above the highest %.1f dB", worstRipple, worstRest, worstStop)
		if worstRipple > ripple || worstRest > rejectionDB || worstStop > rejectionDB {
			t.Errorf("ripple above %v dB, or something above %v dB", ripple, rejectionDB)
		}
	})
}

// TestConstant checks that a constant stays exactly what it is, also at the ends of the range.
func TestConstant(t *testing.T) {
	t.Parallel()
	eachRatio(t, func(t *testing.T, fromHz, toHz int) {
		for _, value := range []int16{0, 1, -1, 1000, 32767, -32768} {
			sound := resample(t, fromHz, toHz, slices.Repeat([]int16{value}, fromHz/10))
			edge := toHz / 100 // where the silence before and after is within reach
			for i, got := range sound[edge : len(sound)-edge] {
				if got != value {
					t.Fatalf("sample %d of a constant %d is %d", edge+i, value, got)
				}
			}
		}
	})
}

// TestLoudSamplesAreLimited resamples a square wave between the loudest samples. The filter's
// output is louder beside each step; as an int16 without a limit it would change its sign.
func TestLoudSamplesAreLimited(t *testing.T) {
	t.Parallel()
	eachRatio(t, func(t *testing.T, fromHz, toHz int) {
		square := make([]int16, fromHz)
		for i := range square {
			square[i] = 32767
			if i/(fromHz/50)%2 == 1 { // 25 Hz
				square[i] = -32768
			}
		}
		sound := resample(t, fromHz, toHz, square)
		limited := 0
		for i, sample := range sound {
			half := i * 50 / toHz
			sign, place := 1-2*(half%2), float64(i)*50/float64(toHz)-float64(half)
			if away := place > 0.02 && place < 0.98; away && int(sample)*sign < 25000 {
				t.Fatalf("sample %d is %d", i, sample)
			}
			if sample == 32767 || sample == -32768 {
				limited++
			}
		}
		if limited == 0 {
			t.Error("no sample reached the limit")
		}
	})
}

// TestDelay checks that all output is there but for that of the delay, and then the rest.
func TestDelay(t *testing.T) {
	t.Parallel()
	eachRatio(t, func(t *testing.T, fromHz, toHz int) {
		r := newResampler(t, fromHz, toHz)
		if r.Delay() <= 0 || r.Delay() > 3500*time.Microsecond {
			t.Errorf("the delay is %v", r.Delay())
		}
		samples := fromHz / 50
		delayed := int(math.Round(r.Delay().Seconds() * float64(fromHz)))
		r.AppendResample(nil, noise(5, 1000))
		r.Reset()
		total := 0
		for frame := 1; frame <= 10; frame++ {
			total += len(r.AppendResample(nil, make([]int16, samples)))
			if want := ((frame*samples-delayed)*toHz + fromHz - 1) / fromHz; total != want {
				t.Fatalf("%d samples after %d frames, want %d", total, frame, want)
			}
		}
		total += len(r.AppendFlush(nil))
		if want := (10*samples*toHz + fromHz - 1) / fromHz; total != want {
			t.Errorf("%d samples with the rest, want %d", total, want)
		}
	})
}

// TestEqualRates checks that samples of equal rates are copied.
func TestEqualRates(t *testing.T) {
	t.Parallel()
	r := newResampler(t, 16000, 16000)
	sound := noise(3, 100)
	if got := r.AppendResample([]int16{9}, sound); !slices.Equal(got[1:], sound) || r.Delay() != 0 {
		t.Errorf("%v became %v after %v", sound, got, r.Delay())
	}
	r.Reset()
	if got := r.AppendFlush(nil); len(got) != 0 {
		t.Errorf("the rest is %v", got)
	}
}

// TestUnknownRates checks that rates out of the table are refused.
func TestUnknownRates(t *testing.T) {
	t.Parallel()
	for _, rates := range [][2]int{{0, 16000}, {16000, 0}, {-8000, 8000}, {11025, 16000}, {16000, 192000}} {
		if _, err := audio.NewResampler(rates[0], rates[1]); err == nil {
			t.Errorf("from %d to %d Hz is no error", rates[0], rates[1])
		}
	}
}

// TestResampleDoesNotAllocate gives a buffer that is large enough, after a first frame. It is not
// parallel, as the allocations of all goroutines are counted.
func TestResampleDoesNotAllocate(t *testing.T) {
	for _, rates := range [][2]int{{24000, 16000}, {16000, 24000}, {44100, 16000}, {16000, 16000}} {
		r := newResampler(t, rates[0], rates[1])
		frame := noise(4, rates[0]/50)
		out := r.AppendResample(make([]int16, 0, rates[1]/50+2), frame)
		if got := testing.AllocsPerRun(100, func() { out = r.AppendResample(out[:0], frame) }); got != 0 {
			t.Errorf("from %d to %d Hz: %v allocations a frame", rates[0], rates[1], got)
		}
	}
}
