package hearing_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

// loudDetector takes each frame above −50 dB for speech, so that tests say by tones who speaks
// when.
type loudDetector struct{}

func (loudDetector) Detect(samples []int16) vad.Frame {
	frame := vad.Frame{LevelDB: vad.LevelDB(samples), FloorDB: -70}
	if frame.LevelDB > -50 {
		frame.Speech = 1
	}
	return frame
}

// call is a conversation being played to a taker.
type call struct {
	t     *testing.T
	taker *hearing.Taker
	log   []string
	all   []hearing.Event
}

func newCall(t *testing.T, change func(*hearing.Settings)) *call {
	t.Helper()
	settings := hearing.Defaults()
	if change != nil {
		change(&settings)
	}
	return &call{t: t, taker: hearing.New(settings, loudDetector{}, nil)}
}

func streaming(s *hearing.Settings) { s.Streaming, s.Punctuated = true, true }

func (c *call) take(events []hearing.Event) *call {
	c.all = append(c.all, events...)
	for _, e := range events {
		line := e.Kind.String()
		if e.Reason != hearing.NoReason {
			line += " (" + e.Reason.String() + ")"
		}
		c.log = append(c.log, line)
	}
	return c
}

// tone is sound at a level in dB of full scale.
func tone(ms int, levelDB float64) []int16 {
	samples := make([]int16, ms*hearing.SampleRate/1000)
	amplitude := 32768 * math.Pow(10, levelDB/20) * math.Sqrt2
	for i := range samples {
		samples[i] = int16(amplitude * math.Sin(2*math.Pi*440*float64(i)/hearing.SampleRate))
	}
	return samples
}

func (c *call) speak(ms int) *call { return c.take(c.taker.Write(tone(ms, -23))) }

func (c *call) soft(ms int, levelDB float64) *call { return c.take(c.taker.Write(tone(ms, levelDB))) }

func (c *call) silence(ms int) *call {
	return c.take(c.taker.Write(make([]int16, ms*hearing.SampleRate/1000)))
}

func (c *call) words(text string) *call { return c.take(c.taker.Words(text, false)) }

func (c *call) lastWords(text string) *call { return c.take(c.taker.Words(text, true)) }

// agent lets the agent speak for a time from now on.
func (c *call) agent(text string, ms int) *call {
	now := c.taker.NowMS()
	c.taker.AgentSaid(hearing.Said{Text: text, FromMS: now, ToMS: now + ms})
	for at := 0; at < ms; at += 100 {
		c.taker.AgentPlaying(now+at, now+at+100, -20)
	}
	return c
}

// answered is a call in which the user has asked something and the agent has spoken for two
// seconds.
func answered(t *testing.T, change func(*hearing.Settings)) *call {
	t.Helper()
	c := newCall(t, change).silence(1000).speak(1000).words("What are your hours?").silence(600)
	c.agent("We are open from nine to five on weekdays.", 8000).silence(2048)
	if state := c.taker.State(); state != hearing.Speaking {
		t.Fatalf("the agent is to speak, but the state is %s after %v", state, c.log)
	}
	c.log, c.all = nil, nil
	return c
}

func (c *call) expect(want ...string) {
	c.t.Helper()
	if !slices.Equal(c.log, want) {
		c.t.Errorf("got  %s\nwant %s", strings.Join(c.log, ", "), strings.Join(want, ", "))
	}
}

func (c *call) state(want hearing.State) {
	c.t.Helper()
	if got := c.taker.State(); got != want {
		c.t.Errorf("the state is %s, want %s", got, want)
	}
}

// only returns the one event of a kind.
func (c *call) only(kind hearing.Kind) hearing.Event {
	c.t.Helper()
	var found []hearing.Event
	for _, e := range c.all {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%d events %q in %v", len(found), kind, c.all)
	}
	return found[0]
}

// near fails unless a time is within two frames of another.
func near(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want-64 || got > want+64 {
		t.Errorf("%s is %d, want about %d", what, got, want)
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1000).speak(1000)
	c.state(hearing.UserSpeaking)
	c.silence(300)
	c.state(hearing.Ending)
	c.silence(400)
	c.state(hearing.Thinking)
	c.expect("speech started", "end likely", "speech stopped", "commit (silence)")
	started, commit := c.only(hearing.SpeechStarted), c.only(hearing.Commit)
	near(t, "the report of the speech", started.AtMS, 1200)
	near(t, "its beginning with the prefix", started.FromMS, 700)
	near(t, "the commit", commit.AtMS, 2500)
	near(t, "the end of the speech", c.only(hearing.SpeechStopped).ToMS, 2000)
	near(t, "the utterance's end", commit.ToMS, 2300)
	near(t, "the speech in it", commit.SpeechMS, 1000)
	if commit.FromMS != started.FromMS {
		t.Errorf("the utterance begins at %d, the speech at %d", commit.FromMS, started.FromMS)
	}
	c.agent("We are open.", 500).silence(200)
	c.state(hearing.Speaking)
	c.taker.AgentDone()
	c.silence(500)
	c.state(hearing.Listening)
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*hearing.Settings)
		asked  string
		words  string
		want   int // ms of silence before the commit
		reason hearing.Reason
	}{
		"without words":        {nil, "", "", 500, hearing.BySilence},
		"finished":             {streaming, "", "I want a room.", 300, hearing.ByWords},
		"dangling":             {streaming, "", "I want a room and", 1600, hearing.ByTimeout},
		"a mark is missing":    {streaming, "", "I want a room", 1600, hearing.ByTimeout},
		"no marks ever":        {func(s *hearing.Settings) { s.Streaming = true }, "", "I want a room", 500, hearing.BySilence},
		"part of a number":     {streaming, "What is your phone number?", "555 12.", 3000, hearing.ByTimeout},
		"a whole number":       {streaming, "What is your phone number?", "555 123 4567", 300, hearing.ByWords},
		"part of an address":   {streaming, "What is your e-mail?", "anna at example", 3000, hearing.ByTimeout},
		"eager, finished":      {eagerness(hearing.EagernessHigh), "", "I want a room.", 250, hearing.ByWords},
		"eager, no words":      {func(s *hearing.Settings) { s.Eagerness = hearing.EagernessHigh }, "", "", 400, hearing.BySilence},
		"eager, dangling":      {eagerness(hearing.EagernessHigh), "", "I want a", 1000, hearing.ByTimeout},
		"patient, finished":    {eagerness(hearing.EagernessLow), "", "I want a room.", 500, hearing.ByWords},
		"patient, dangling":    {eagerness(hearing.EagernessLow), "", "I want a", 2500, hearing.ByTimeout},
		"medium is auto":       {eagerness(hearing.EagernessMedium), "", "I want a room.", 300, hearing.ByWords},
		"the longest silence":  {func(s *hearing.Settings) { streaming(s); s.MaxEndpointMS = 900 }, "", "I want a", 900, hearing.ByTimeout},
		"the shortest silence": {func(s *hearing.Settings) { streaming(s); s.MinEndpointMS = 700 }, "", "Yes.", 700, hearing.ByWords},
		"a silence of its own": {func(s *hearing.Settings) { s.SilenceMS = 900 }, "", "", 900, hearing.BySilence},
		"another language": {
			func(s *hearing.Settings) { streaming(s); s.Language = "de" }, "", "Ich möchte ein Zimmer mit", 1600, hearing.ByTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCall(t, row.change).silence(1000)
			if row.asked != "" {
				c.taker.AgentSaid(hearing.Said{Text: row.asked})
			}
			c.speak(1024).silence(160)
			if row.words != "" {
				c.words(row.words)
			}
			c.silence(3500)
			commit := c.only(hearing.Commit)
			near(t, "the silence before the commit", commit.AtMS-2024, row.want)
			if commit.Reason != row.reason {
				t.Errorf("the reason is %s, want %s", commit.Reason, row.reason)
			}
		})
	}
}

func eagerness(e hearing.Eagerness) func(*hearing.Settings) {
	return func(s *hearing.Settings) { streaming(s); s.Eagerness = e }
}

// TestStaleWords checks that words which came while the user still spoke do not end the turn early.
func TestStaleWords(t *testing.T) {
	t.Parallel()
	c := newCall(t, func(s *hearing.Settings) { s.Streaming = true }).silence(1000).speak(500).words("I want a room.").speak(500).silence(1000)
	near(t, "the commit", c.only(hearing.Commit).AtMS, 2500)
}

func TestPauseWithin(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1000).speak(800).silence(160).words("I want a").silence(1000).speak(800)
	c.silence(160).words("I want a room.").silence(1000)
	c.expect("speech started", "end likely", "speech stopped", "commit (words)")
	if commit := c.only(hearing.Commit); commit.FromMS > 800 {
		t.Errorf("the utterance begins at %d", commit.FromMS)
	}
}

func TestContinued(t *testing.T) {
	t.Parallel()
	newCall(t, nil).silence(1000).speak(800).silence(400).speak(300).silence(1000).
		expect("speech started", "end likely", "continued", "end likely", "speech stopped", "commit (silence)")
}

// TestLearnedPauses checks that a speaker who pauses for long is given more time.
func TestLearnedPauses(t *testing.T) {
	t.Parallel()
	c := newCall(t, func(s *hearing.Settings) { s.SilenceMS = 1000 }).silence(1000)
	for range 8 {
		c.speak(600).silence(900)
	}
	c.speak(600)
	end := c.taker.NowMS()
	c.silence(3000)
	near(t, "the silence before the commit", c.only(hearing.Commit).AtMS-end, 1000+540)
}

// TestAskedOnce checks that only the next utterance is waited for until the value is whole.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1000)
	c.taker.AgentSaid(hearing.Said{Text: "What is your phone number?"})
	c.speak(1024).silence(160).words("555 123 4567.").silence(1000)
	c.taker.AgentDone()
	c.all = nil
	c.speak(1024).silence(160).words("I need 2 rooms.").silence(1000)
	c.only(hearing.Commit)
}

// steps is a detector that says a probability for so many frames, then the next.
type steps []struct {
	frames int
	speech float32
}

func (s *steps) Detect([]int16) vad.Frame {
	for len(*s) > 1 && (*s)[0].frames == 0 {
		*s = (*s)[1:]
	}
	(*s)[0].frames--
	frame := vad.Frame{Speech: (*s)[0].speech, LevelDB: -23, FloorDB: -70}
	if frame.Speech == 0 {
		frame.LevelDB = -70
	}
	return frame
}

// TestThreshold checks that speech goes on at a lower probability than it begins with.
func TestThreshold(t *testing.T) {
	t.Parallel()
	detector := &steps{{30, 0}, {30, 0.45}, {30, 0}, {30, 0.55}, {30, 0.45}, {1, 0.2}}
	c := &call{t: t, taker: hearing.New(hearing.Defaults(), detector, nil)}
	c.silence(6000)
	near(t, "the beginning", c.only(hearing.SpeechStarted).AtMS, 90*32+200)
	near(t, "the end", c.only(hearing.SpeechStopped).ToMS, 150*32)
}

// TestClick checks that a single loud frame in a pause is no speech.
func TestClick(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1024).speak(1024).silence(256).speak(32).silence(1024)
	near(t, "the commit", c.only(hearing.Commit).AtMS, 2048+500)
}

func TestTooShort(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1000).speak(120).silence(500).speak(120).silence(1000)
	c.expect()
	c.state(hearing.Listening)
}

// TestNoWords checks that sounds of which a streaming transcriber understands nothing make no turn.
func TestNoWords(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1000).speak(600).silence(1500)
	c.expect("speech started", "end likely", "false start (no words)")
	near(t, "the false start", c.only(hearing.FalseStart).AtMS, 2600)
	c = newCall(t, streaming).silence(1000).speak(600).silence(400).lastWords("").silence(320)
	c.expect("speech started", "end likely", "false start (no words)")
	c.state(hearing.Listening)
}

func TestJoined(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1000).speak(800).silence(700)
	c.state(hearing.Thinking)
	c.log, c.all = nil, nil
	c.speak(800)
	c.state(hearing.UserSpeaking)
	c.silence(1200)
	c.expect("speech started", "end likely", "speech stopped", "commit (silence)")
	commit := c.only(hearing.Commit)
	if !commit.Joined || !c.only(hearing.SpeechStarted).Joined {
		t.Errorf("the utterance is not joined to the one before: %v", commit)
	}
	near(t, "the beginning of both", commit.JoinedMS, 700)
}

// TestJoinedFalseStart checks that noise while the agent thinks leaves it thinking.
func TestJoinedFalseStart(t *testing.T) {
	t.Parallel()
	c := newCall(t, streaming).silence(1000).speak(800).silence(160).words("Yes.").silence(600)
	c.speak(400).silence(1500)
	if e := c.only(hearing.FalseStart); !e.Joined {
		t.Errorf("not joined: %v", e)
	}
	c.state(hearing.Thinking)
}

func TestSilentAnswer(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1000).speak(800).silence(700)
	c.taker.AgentDone()
	c.state(hearing.Listening)
	c = newCall(t, func(s *hearing.Settings) { s.CreateResponse = false }).silence(1000).speak(800).silence(700)
	c.only(hearing.Commit)
	c.state(hearing.Listening)
}

func TestIdle(t *testing.T) {
	t.Parallel()
	c := newCall(t, func(s *hearing.Settings) { s.IdleMS = 2000 }).silence(1024).speak(800).silence(700)
	c.agent("Hello.", 5000).silence(5000)
	c.log, c.all = nil, nil
	c.taker.AgentDone()
	c.silence(4200)
	c.expect("idle", "idle")
	if c.all[0].Count != 1 || c.all[1].Count != 2 {
		t.Errorf("the counts are %d and %d", c.all[0].Count, c.all[1].Count)
	}
	near(t, "the first", c.all[0].AtMS, 1024+800+700+5000+2000)
	c.speak(800).silence(700)
	c.taker.AgentDone()
	c.log, c.all = nil, nil
	c.silence(2100)
	if e := c.only(hearing.Idle); e.Count != 1 {
		t.Errorf("after an utterance the count is %d", e.Count)
	}
}

func TestManual(t *testing.T) {
	t.Parallel()
	c := newCall(t, func(s *hearing.Settings) { s.Manual, s.IdleMS = true, 0 }).silence(1024).speak(1024).silence(3008)
	c.expect()
	c.take(c.taker.Commit())
	c.expect("commit (caller)")
	commit := c.only(hearing.Commit)
	if commit.FromMS != 0 || commit.ToMS != 5056 {
		t.Errorf("the utterance is %d to %d", commit.FromMS, commit.ToMS)
	}
	near(t, "the speech in it", commit.SpeechMS, 1024)
	c.state(hearing.Thinking)
	c.log = nil
	c.agent("Well.", 4000).speak(2000)
	c.take(c.taker.Discard()).take(c.taker.Commit())
	c.expect()
}

// TestManualInSpeech: what the user is saying when turn detection is switched off belongs to what
// the client commits.
func TestManualInSpeech(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1024).speak(1024)
	settings := hearing.Defaults()
	settings.Manual = true
	c.taker.Set(settings)
	c.speak(1024).take(c.taker.Commit())
	c.expect("speech started", "false start", "commit (caller)")
	commit := c.only(hearing.Commit)
	if commit.FromMS > 1024 || commit.FromMS < 512 || commit.ToMS != 3072 {
		t.Errorf("the utterance is %d to %d", commit.FromMS, commit.ToMS)
	}
	near(t, "the speech in it", commit.SpeechMS, 2048)
}

func TestCommitByCaller(t *testing.T) {
	t.Parallel()
	c := newCall(t, nil).silence(1000).take(nil)
	c.take(c.taker.Commit())
	c.expect()
	c.speak(800)
	c.take(c.taker.Commit())
	c.expect("speech started", "speech stopped", "commit (caller)")
	c = newCall(t, nil).silence(1000).speak(800)
	c.take(c.taker.Discard()).silence(1000)
	c.expect("speech started", "false start")
}
