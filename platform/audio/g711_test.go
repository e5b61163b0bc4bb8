package audio_test

import (
	"bytes"
	"math"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

var (
	muLaw = audio.Format{Encoding: audio.MuLaw, RateHz: 8000}
	aLaw  = audio.Format{Encoding: audio.ALaw, RateHz: 8000}
)

// decisions lists the decision values x1, x2 … of tables 1 and 2 of ITU-T G.711 from their columns
// "number of intervals × interval size", lowest segment first.
func decisions(first []int, segments [][2]int) []int {
	values := first
	for _, segment := range segments {
		for range segment[0] {
			values = append(values, values[len(values)-1]+segment[1])
		}
	}
	return values
}

// law is one of the two tables.
type law struct {
	format audio.Format
	// decisions has 129 values. A magnitude from decisions[n] up to decisions[n+1] is interval n.
	decisions []int
	// scale is how much of an int16 the table's unit is.
	scale int
	// middle is the value that an interval decodes to, in the table's units.
	middle func(n, from, to int) int
	// character is the code of an interval.
	character func(n int, negative bool) byte
}

func laws() map[string]law {
	return map[string]law{
		"A-law": {
			format:    aLaw,
			decisions: decisions([]int{0}, [][2]int{{32, 2}, {16, 4}, {16, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}}),
			scale:     8, // the table ends at 4096
			middle:    func(_, from, to int) int { return (from + to) / 2 },
			// Table 1: positive values have the sign bit; note 2: the even bits are inverted.
			character: func(n int, negative bool) byte {
				if negative {
					return byte(n) ^ 0x55
				}
				return byte(n|0x80) ^ 0x55
			},
		},
		"mu-law": {
			format:    muLaw,
			decisions: decisions([]int{0, 1}, [][2]int{{15, 2}, {16, 4}, {16, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}, {16, 256}}),
			scale:     4, // the table ends at 8159
			middle: func(n, from, to int) int {
				if n == 0 {
					return 0
				}
				return (from + to) / 2
			},
			// Table 2: 1111 1111 for the lowest positive interval, 0000 0000 for the highest
			// negative one.
			character: func(n int, negative bool) byte {
				if negative {
					return 0x7f - byte(n)
				}
				return 0xff - byte(n)
			},
		},
	}
}

// TestG711 checks every sample and every code against the tables of the standard.
func TestG711(t *testing.T) {
	t.Parallel()
	for name, law := range laws() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := len(law.decisions) - 1
			if want := map[string]int{"A-law": 4096, "mu-law": 8159}[name]; last != 128 || law.decisions[last] != want {
				t.Fatalf("the table has %d intervals and ends at %d", last, law.decisions[last])
			}
			decoder := audio.Decoder{Format: law.format}
			for n := range last {
				for _, negative := range []bool{false, true} {
					want := law.middle(n, law.decisions[n], law.decisions[n+1]) * law.scale
					if negative {
						want = -want
					}
					code := law.character(n, negative)
					if got := decoder.AppendDecode(nil, []byte{code}); int(got[0]) != want {
						t.Errorf("%02x decodes to %d, want %d", code, got[0], want)
					}
				}
			}
			for sample := -32768; sample <= 32767; sample++ {
				want := law.character(law.interval(sample), sample < 0)
				if got := law.format.AppendEncode(nil, []int16{int16(sample)}); got[0] != want {
					t.Fatalf("%d encodes to %02x, want %02x", sample, got[0], want)
				}
			}
		})
	}
}

// interval is the number of the interval that a sample is in. The standard does not say where a
// sample on a decision value belongs. In the ITU's software (ulaw_compress and alaw_compress of
// G.191) a positive one belongs to the interval above, a negative one to the interval nearer to 0.
func (l law) interval(sample int) int {
	within := func(n int) bool {
		from, to := l.decisions[n]*l.scale, l.decisions[n+1]*l.scale
		if sample < 0 {
			return from < -sample && -sample <= to
		}
		return from <= sample && sample < to
	}
	for n := range len(l.decisions) - 1 {
		if within(n) {
			return n
		}
	}
	return len(l.decisions) - 2 // louder than the table
}

// TestDigitalMilliwatt decodes the sequences of tables 5 and 6 of the standard: 1,000 Hz at the
// nominal level. The sine that reaches the end of the table is 3.14 dB louder in A-law, and 3.17 dB
// in µ-law.
func TestDigitalMilliwatt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		format  audio.Format
		period  []byte
		end     float64
		levelDB float64
	}{
		{aLaw, []byte{0x34, 0x21, 0x21, 0x34, 0xb4, 0xa1, 0xa1, 0xb4}, 4096 * 8, -3.14},
		{muLaw, []byte{0x1e, 0x0b, 0x0b, 0x1e, 0x9e, 0x8b, 0x8b, 0x9e}, 8159 * 4, -3.17},
	} {
		encoded := bytes.Repeat(row.period, 100)
		decoder := audio.Decoder{Format: row.format}
		samples := decoder.AppendDecode(nil, encoded)
		amplitude, rest := amplitudeOf(1000, 8000, samples)
		if got := decibels(amplitude * math.MaxInt16 / row.end); math.Abs(got-row.levelDB) > 0.01 {
			t.Errorf("%v: the tone is at %.3f dB, want %.2f", row.format, got, row.levelDB)
		}
		if got := decibels(rest / amplitude); got > -30 {
			t.Errorf("%v: everything but the tone is at %.1f dB", row.format, got)
		}
		if again := row.format.AppendEncode(nil, samples); !bytes.Equal(again, encoded) {
			t.Errorf("%v: encoded again it is % x", row.format, again[:8])
		}
	}
}
