package hearing_test

import (
	"testing"

	"parlance.dev/parlance/voice/hearing"
)

// TestInterruption checks what pauses, interrupts and resumes the agent.
func TestInterruption(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*hearing.Settings)
		run    func(c *call)
		want   []string
	}{
		"speech that lasts": {nil, func(c *call) { c.speak(800) }, []string{
			"pause", "interrupt (duration)", "speech started",
		}},
		"a short sound": {nil, func(c *call) { c.speak(300).silence(1500) }, []string{
			"pause", "transcribe", "false start (no words)", "resume",
		}},
		"a sound of one frame": {nil, func(c *call) { c.speak(32).silence(1500) }, nil},
		"a stop word": {streaming, func(c *call) { c.speak(260).words("stop").speak(100) }, []string{
			"pause", "interrupt (stop word)", "speech started",
		}},
		"two words": {streaming, func(c *call) { c.speak(300).words("what about").speak(100) }, []string{
			"pause", "interrupt (words)", "speech started",
		}},
		"an acknowledgement": {streaming, func(c *call) { c.speak(400).words("Yeah, okay.").silence(600) }, []string{
			"pause", "false start (acknowledgement)", "resume",
		}},
		"the words of an acknowledgement come in time": {streaming, func(c *call) {
			c.speak(500).words("that's").speak(300).words("that's right").silence(300)
		}, []string{"pause", "false start (acknowledgement)", "resume"}},
		"an acknowledgement that goes on": {streaming, func(c *call) { c.speak(400).words("yeah").speak(1000) }, []string{
			"pause", "interrupt (duration)", "speech started",
		}},
		"an acknowledgement, then more": {streaming, func(c *call) { c.speak(400).words("yeah but when").speak(100) }, []string{
			"pause", "interrupt (words)", "speech started",
		}},
		"an acknowledgement of another language": {
			func(s *hearing.Settings) { streaming(s); s.Language = "de" },
			func(c *call) { c.speak(400).words("ja genau").silence(400) },
			[]string{"pause", "false start (acknowledgement)", "resume"},
		},
		"one other word": {streaming, func(c *call) { c.speak(300).words("Sunday").silence(1100) }, []string{
			"pause", "false start (too little)", "resume",
		}},
		"one other word that is final": {streaming, func(c *call) { c.speak(300).silence(256).lastWords("Sunday").silence(64) }, []string{
			"pause", "false start (too little)", "resume",
		}},
		"nothing understood": {streaming, func(c *call) { c.speak(300).silence(256).lastWords("").silence(64) }, []string{
			"pause", "false start (no words)", "resume",
		}},
		"the words of a whole utterance": {nil, func(c *call) { c.speak(300).silence(400).lastWords("Stop.").silence(64) }, []string{
			"pause", "transcribe", "interrupt (stop word)", "speech started", "speech stopped", "commit (words)",
		}},
		"the agent's own words": {streaming, func(c *call) {
			c.soft(300, -28).words("from nine").soft(100, -28).silence(1200)
		}, []string{"pause", "false start (echo)", "resume"}},
		"the agent's own words before loud speech": {streaming, func(c *call) { c.speak(300).words("nine yeah").silence(300) }, []string{
			"pause", "false start (acknowledgement)", "resume",
		}},
		"loud words that the agent says in another order": {streaming, func(c *call) { c.speak(300).words("five nine").speak(100) }, []string{
			"pause", "interrupt (words)", "speech started",
		}},
		"the agent's own words, suddenly loud": {streaming, func(c *call) {
			c.speak(400).words("from nine").speak(400).words("from nine to five").silence(300)
		}, []string{"pause", "false start (echo)", "resume"}},
		"a stop word behind the agent's own": {streaming, func(c *call) { c.speak(300).words("nine to wait").speak(100) }, []string{
			"pause", "interrupt (stop word)", "speech started",
		}},
		"interruptions are off": {
			func(s *hearing.Settings) { streaming(s); s.Interrupt = false },
			func(c *call) { c.speak(800).silence(160).words("What about Sunday?").silence(600) },
			[]string{"end likely", "speech started", "speech stopped", "commit (words)"},
		},
		"an acknowledgement while they are off": {
			func(s *hearing.Settings) { streaming(s); s.Interrupt = false },
			func(c *call) { c.speak(400).silence(160).words("Okay.").silence(600) },
			[]string{"false start (acknowledgement)"},
		},
		"push-to-talk":          {func(s *hearing.Settings) { s.Manual = true }, func(c *call) { c.speak(800).silence(800) }, nil},
		"somebody farther away": {streaming, func(c *call) { c.soft(1500, -36).words("somebody else talks").silence(300) }, nil},
		"by hand": {nil, func(c *call) { c.speak(300).take(c.taker.Commit()) }, []string{
			"pause", "interrupt (caller)", "speech started", "speech stopped", "commit (caller)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := answered(t, func(s *hearing.Settings) { streaming(s) })
			settings := hearing.Defaults()
			if row.change != nil {
				row.change(&settings)
			}
			c.taker.Set(settings)
			row.run(c)
			c.expect(row.want...)
		})
	}
}

// TestAnswerOwed checks that what was said while interruptions were off is answered afterwards.
func TestAnswerOwed(t *testing.T) {
	t.Parallel()
	c := answered(t, func(s *hearing.Settings) { s.Interrupt = false })
	c.speak(800).silence(800)
	c.only(hearing.Commit)
	c.state(hearing.Speaking)
	c.taker.AgentDone()
	c.silence(8000)
	c.state(hearing.Thinking)
}

// TestSpeechBeyondTheAgent checks that speech which interrupted nothing is reported when the agent
// has finished.
func TestSpeechBeyondTheAgent(t *testing.T) {
	t.Parallel()
	c := newCall(t, func(s *hearing.Settings) { s.Interrupt = false }).silence(1024).agent("Hello.", 2048)
	c.taker.AgentDone()
	c.silence(1024).speak(1500)
	c.expect("speech started")
	near(t, "the report", c.only(hearing.SpeechStarted).AtMS, 1024+2048)
	c.state(hearing.UserSpeaking)
}

// TestInterruptionTimes checks the pause and the interruption against the beginning of the speech.
func TestInterruptionTimes(t *testing.T) {
	t.Parallel()
	c := answered(t, nil)
	c.taker.Set(hearing.Defaults())
	begin := c.taker.NowMS()
	c.speak(240)
	c.state(hearing.Interrupted)
	c.speak(800)
	c.state(hearing.UserSpeaking)
	near(t, "the pause", c.only(hearing.Pause).AtMS-begin, 200)
	near(t, "the interruption", c.only(hearing.Interrupt).AtMS-begin, 500)
	near(t, "the beginning it names", c.only(hearing.Interrupt).FromMS, begin)
	near(t, "the utterance's beginning", c.only(hearing.SpeechStarted).FromMS, begin-300)
	c.silence(700)
	c.only(hearing.Commit)
	c.state(hearing.Thinking)
}

// TestProtected checks that a piece that is not to be interrupted records the speech, and that the
// next piece can be interrupted.
func TestProtected(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1024)
	c.taker.AgentSaid(hearing.Said{Text: "This call is recorded.", FromMS: 1024, ToMS: 3024, Protected: true})
	c.agent("How can I help you today, please?", 8000).silence(800)
	c.speak(800).silence(160).words("Book a room.").silence(500)
	c.expect("end likely", "speech started", "speech stopped", "commit (words)")
	c.state(hearing.Speaking)
	c.log, c.all = nil, nil
	c.silence(1000).speak(800)
	c.expect("pause", "interrupt (duration)", "speech started")
}

// TestEchoLevel checks that a loud echo does not even pause the agent once its level is known, and
// that louder speech does.
func TestEchoLevel(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1024).agent("We are open from nine to five.", 20_000)
	c.soft(4000, -34)
	c.expect()
	c.speak(700)
	c.expect("pause", "interrupt (duration)", "speech started")
}

// TestNoEcho checks that a quiet user interrupts an agent that was found to have no echo.
func TestNoEcho(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1024).agent("We are open from nine to five.", 20_000)
	c.soft(700, -33)
	c.expect()
	c.silence(4000).soft(700, -33)
	c.expect("pause", "interrupt (duration)", "speech started")
}

// TestEchoLearned checks that an echo that is louder than expected pauses the agent once, and again
// when it becomes louder. After the second time the taker is on its guard, and not a third time.
func TestEchoLearned(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1024).agent("We are open from nine to five on weekdays.", 30_000)
	sound := func(level float64) {
		for range 3 {
			c.soft(320, level).words("from nine to").soft(64, level)
		}
	}
	sound(-25)
	c.expect("pause", "false start (echo)", "resume")
	sound(-21)
	sound(-16)
	c.expect("pause", "false start (echo)", "resume", "pause", "false start (echo)", "resume")
}

// TestEchoAfterwards checks that the end of the agent's words, heard after it, is no turn.
func TestEchoAfterwards(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1024).agent("We are open from nine to five on weekdays.", 3000).silence(3000)
	c.taker.AgentDone()
	c.silence(500).speak(400).silence(64).words("five on weekdays").silence(600)
	c.expect("speech started", "false start (echo)")
}

// TestBackgroundVoices checks that voices which were there from the beginning are no speech to the
// agent, that a nearer one is, and that they do not keep its utterance from ending.
func TestBackgroundVoices(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).soft(3000, -40)
	c.expect()
	c.speak(1000).soft(1000, -40)
	c.expect("speech started", "end likely", "speech stopped", "commit (silence)")
	near(t, "the commit", c.only(hearing.Commit).AtMS, 4500)
}
