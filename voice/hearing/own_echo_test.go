package hearing_test

import (
	"math"
	"testing"

	"parlance.dev/parlance/test/voices"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

// TestOwnEcho: an agent whose sound comes back by the microphone, before the user has said a word,
// does not interrupt itself. Its sound is told in pieces of 40 ms, 400 ms before they are played.
func TestOwnEcho(t *testing.T) {
	t.Parallel()
	text := "The first thing to know is that we open at nine. The second thing is that we close at six." +
		" The third thing is that we sell bread, cheese and wine. The fourth thing is that parking is free." +
		" It goes on for a while, and then for a while longer, until the last sentence of all has been said."
	for _, row := range []struct {
		voice    string
		levelDB  float64
		delaysMS []int
	}{
		{"slt", -12, []int{120, 360}},
		{"rms", -15, []int{120, 360}},
		{"slt", -20, []int{120, 360}},
		{"rms", -25, []int{120, 360}},
		{"awb", -30, []int{120, 360}},
	} {
		said := voices.Say(t, "flite", row.voice, text, hearing.SampleRate)
		for _, delayMS := range row.delaysMS {
			if interrupts := echoed(said, row.levelDB, delayMS); interrupts > 0 {
				t.Errorf("%s's echo of %.0f dB after %d ms interrupted the agent %d times", row.voice, row.levelDB, delayMS, interrupts)
			}
		}
	}
}

// echoed has the agent say something twice, of which the microphone hears an echo, and returns how
// often that interrupts it.
func echoed(said []int16, levelDB float64, delayMS int) (interrupts int) {
	taker := hearing.New(hearing.Defaults(), vad.New(), nil)
	const frame, lead = 20 * 16, 400 * 16
	gain := math.Pow(10, levelDB/20)
	played := make([]int16, 3*len(said)+hearing.SampleRate)
	begins := []int{hearing.SampleRate / 2, hearing.SampleRate/2 + len(said) + 8000} // twice, with a pause
	next, at := 0, begins[0]
	for now := 0; now+frame < len(played); now += frame {
		for next < 2*len(said) && at <= now+lead {
			piece := said[next%len(said) : min(next%len(said)+640, len(said))]
			copy(played[at:], piece)
			taker.AgentPlaying(at/16, (at+len(piece))/16, vad.LevelDB(piece))
			next, at = next+len(piece), at+len(piece)
			if next == len(said) {
				at = begins[1]
			}
		}
		mic := make([]int16, frame)
		for i := range mic {
			if from := now + i - 16*delayMS; from >= 0 {
				mic[i] = int16(float64(played[from]) * gain)
			}
		}
		for _, e := range taker.Write(mic) {
			if e.Kind == hearing.Interrupt {
				interrupts++
			}
		}
	}
	return interrupts
}
