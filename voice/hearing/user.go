package hearing

import "math"

type userPhase int

const (
	userSilent userPhase = iota
	userSpeaking
	userEnding
)

// onset is sound that may become speech: its last frames of speech, as many as MinSpeechMS needs.
type onset struct {
	frames []heard
	gap    int // frames of no speech since the last of them
	masked int // frames no louder than the agent's echo since the last of them
}

// heard is a frame of speech that ended at endMS.
type heard struct {
	endMS   int
	levelDB float64
}

// fromMS is where the onset begins.
func (o *onset) fromMS() int { return o.frames[0].endMS - frameMS }

func (o *onset) loudness() (l loudness) {
	for _, frame := range o.frames {
		l.add(frame.levelDB)
	}
	return l
}

// background is the mean level, in dB, of what is heard while nobody speaks to the agent: noise,
// music, voices farther away. Before anything was heard it is that of a room with some noise.
type background struct {
	frames  int
	levelDB float64
}

const (
	unknownBackgroundDB = -40
	// aboveBackgroundDB is how far above the mean of the background speech begins.
	aboveBackgroundDB = 4.5
)

func (b *background) learn(levelDB float64) {
	const weight, quickly = 0.03, 8 // a time constant of a second, and less at the beginning
	if b.frames == 0 {
		b.levelDB = unknownBackgroundDB
	}
	b.levelDB += max(weight, 1/float64(b.frames+quickly)) * (levelDB - b.levelDB)
	b.frames++
}

// user is what the user is saying.
type user struct {
	phase        userPhase
	speechMS     int // where the speech began
	fromMS       int // where the utterance begins, prefix included
	speechEndMS  int // end of the last frame of speech
	speechFrames int
	run          int // frames of speech on end
	loudness     loudness

	words   string
	final   bool
	wordsMS int // when they came

	likely   bool // EndLikely was reported
	vote     vote // of the model, in this pause
	asked    bool // Transcribe was reported
	withheld bool // SpeechStarted is not reported, because the agent speaks
	joined   bool
	joinedMS int
}

// vote is what an EndModel says about a pause. It is forgotten when the user goes on.
type vote struct {
	asked  bool
	answer <-chan float32
	// known says that the answer has come.
	known       bool
	probability float32
}

// read takes the answer if it has come.
func (v *vote) read() {
	select {
	case v.probability = <-v.answer:
		v.known = true
	default:
	}
}

// quietestDB is the level under which a frame is not the speaking user's: voices in the background
// would otherwise keep an utterance from ending.
func (u *user) quietestDB(backgroundDB float64) float64 {
	const below, between = 18, 0.4
	if u.phase == userSilent {
		return math.Inf(-1)
	}
	own := u.loudness.meanDB()
	return max(own-below, backgroundDB+between*(own-backgroundDB))
}

// loudness is the mean level of frames.
type loudness struct {
	frames int
	power  float64
}

func (l *loudness) add(levelDB float64) {
	l.frames++
	l.power += math.Pow(10, levelDB/10)
}

func (l *loudness) meanDB() float64 {
	return 10 * math.Log10(l.power/float64(max(l.frames, 1))+1e-10)
}

// speaker is what was learned about the user over the conversation.
type speaker struct {
	known   bool
	levelDB float64
	sinceMS int // when the level was learned
	pauses  bool
	pauseMS float64 // exponential mean of the pauses within turns
}

// quietestDB is the level under which speech is in the background. It is stricter while the agent
// speaks, and falls with time, so that a person who moved away is heard again.
func (s *speaker) quietestDB(nowMS int, agentSpeaks bool) float64 {
	const below, belowSpeaking, fallPerSecond = 15, 10, 0.1
	if !s.known {
		return math.Inf(-1)
	}
	margin := below + fallPerSecond*float64(nowMS-s.sinceMS)/1000
	if agentSpeaks {
		margin -= below - belowSpeaking
	}
	return s.levelDB - margin
}

func (s *speaker) learnLevel(nowMS int, levelDB float64) {
	const weight = 0.5
	if s.known {
		levelDB = weight*levelDB + (1-weight)*s.levelDB
	}
	s.known, s.levelDB, s.sinceMS = true, levelDB, nowMS
}

// learnPause takes a pause after which the user went on.
func (s *speaker) learnPause(ms int) {
	const weight, longestMS = 0.3, 3000
	if ms < endingMS || ms > longestMS {
		return
	}
	if !s.pauses {
		s.pauses, s.pauseMS = true, endingMS
	}
	s.pauseMS += weight * (float64(ms) - s.pauseMS)
}

// patienceMS is how much longer than others this speaker is waited for.
func (s *speaker) patienceMS() int {
	const ordinary = 300
	return max(int(s.pauseMS)-ordinary, 0)
}

// listen waits for the beginning of speech. Speech that is no louder than the agent's echo is held
// against nobody for a moment: between two loud syllables the user's own is as quiet.
func (t *Taker) listen(speech, echo bool, levelDB float64) {
	t.background.learn(levelDB)
	o := &t.onset
	switch {
	case !speech:
		o.gap++
	case echo:
		o.masked++
	default:
		o.gap, o.masked = 0, 0
		o.frames = append(o.frames, heard{t.NowMS(), levelDB})
	}
	if o.gap*frameMS > gapMS || o.masked*frameMS > maskedMS {
		*o = onset{}
	}
	for len(o.frames) > 1 && t.NowMS()-o.fromMS() >= t.settings.MinSpeechMS+maskedMS {
		o.frames = o.frames[1:]
	}
	if speech && !echo && t.begins() {
		t.begin()
	}
}

// begins reports whether the onset is the beginning of an utterance: it is long enough, and loud
// enough for the user. Within a word there are quiet frames, so the mean of all tells.
func (t *Taker) begins() bool {
	now, o := t.NowMS(), &t.onset
	span, loudness := now-o.fromMS(), o.loudness()
	level := loudness.meanDB()
	agentSpeaks := t.agent.phase == agentPlaying
	// Half a frame short of the minimum is enough, and some frames between may be none of speech.
	return span+frameMS/2 >= t.settings.MinSpeechMS && 2*len(o.frames)*frameMS >= span &&
		level >= t.background.levelDB+aboveBackgroundDB &&
		level >= t.speaker.quietestDB(now, agentSpeaks)
}

// begin makes the onset the beginning of an utterance.
func (t *Taker) begin() {
	now, from := t.NowMS(), t.onset.fromMS()
	t.user = user{
		phase: userSpeaking, speechMS: from, fromMS: max(from-t.settings.PrefixMS, t.heardToMS),
		speechEndMS: now, speechFrames: len(t.onset.frames), run: 2, loudness: t.onset.loudness(),
	}
	t.onset = onset{}
	switch t.agent.phase {
	case agentPlaying:
		if t.settings.Interrupt && !t.agent.protected(now) {
			t.agent.phase = agentPaused
			t.emit(Event{Kind: Pause, FromMS: t.user.speechMS, ToMS: now})
			return
		}
		t.user.withheld = true
		return
	case agentThinking:
		t.user.joined, t.user.joinedMS = true, t.last.fromMS
		t.speaker.learnPause(t.user.speechMS - t.last.speechEndMS)
		t.agent.phase = agentSilent
	case agentSilent, agentPaused:
	}
	t.emitStarted(false)
}

func (t *Taker) emitStarted(quiet bool) {
	t.user.withheld = false
	t.emit(Event{
		Kind: SpeechStarted, FromMS: t.user.fromMS, ToMS: t.NowMS(), Quiet: quiet, Joined: t.user.joined, JoinedMS: t.user.joinedMS,
	})
}

// follow moves an utterance by one frame.
func (t *Taker) follow(speech bool, levelDB float64) {
	u := &t.user
	now := t.NowMS()
	if speech {
		u.run++
		u.speechFrames++
		u.loudness.add(levelDB)
	} else {
		u.run = 0
	}
	switch {
	case speech && u.phase == userSpeaking:
		u.speechEndMS = now
	case speech && u.run >= 2: // one frame after a pause may be a click
		t.speaker.learnPause(now - u.run*frameMS - u.speechEndMS)
		if u.likely {
			t.emit(Event{Kind: Continued, FromMS: u.fromMS, ToMS: now})
		}
		u.phase, u.speechEndMS, u.likely, u.vote, u.asked, u.final = userSpeaking, now, false, vote{}, false, false
	case !speech && now-u.speechEndMS >= endingMS:
		u.phase = userEnding
	}
	t.decide()
}

// decide looks at what the user has said so far.
func (t *Taker) decide() {
	switch {
	case t.agent.phase == agentPaused:
		t.judge()
	case t.user.phase == userEnding:
		t.end()
	}
}
