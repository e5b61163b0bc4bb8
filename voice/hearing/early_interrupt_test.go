package hearing_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/test/voices"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

// TestInterruptAtOnce: a user who speaks just after the agent has begun interrupts it, although
// nothing is known yet of its echo.
func TestInterruptAtOnce(t *testing.T) {
	t.Parallel()
	const said = "This is sentence number one. This is sentence number two. And this is number three."
	agent := voices.Say(t, "flite", "slt", said, hearing.SampleRate)
	for _, voice := range []string{"slt", "awb", "rms", "kal16"} {
		user := voices.Say(t, "flite", voice, "What is the capital of France?", hearing.SampleRate)
		for _, afterMS := range []int{-150, 30, 100, 200, 350, 500, 1200} {
			taker := hearing.New(hearing.Defaults(), vad.New(), nil)
			taker.Write(make([]int16, hearing.SampleRate))
			taker.Write(user)
			taker.Write(make([]int16, hearing.SampleRate)) // committed: the agent thinks
			if !isHeardOver(taker, user, agent, afterMS) {
				t.Errorf("%s, %d ms after the agent: not heard", voice, afterMS)
			}
		}
	}
}

// isHeardOver reports whether the user interrupts the agent, whose loud voice begins 600 ms from
// now and does not come back by the microphone.
func isHeardOver(taker *hearing.Taker, user, agent []int16, afterMS int) bool {
	const frame, lead, begins = 20 * 16, 400 * 16, 600 * 16
	mic := slices.Concat(make([]int16, begins+16*afterMS), user, make([]int16, 3*hearing.SampleRate))
	base, next := taker.NowMS(), 0
	for now := 0; now+frame < len(mic); now += frame {
		for next < len(agent) && begins+next <= now+lead {
			piece := agent[next:min(next+640, len(agent))]
			taker.AgentPlaying(base+(begins+next)/16, base+(begins+next+len(piece))/16, vad.LevelDB(piece)+6)
			next += len(piece)
		}
		for _, e := range taker.Write(mic[now : now+frame]) {
			if e.Kind == hearing.SpeechStarted {
				return true
			}
		}
	}
	return false
}
