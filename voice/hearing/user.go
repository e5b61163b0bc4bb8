package hearing

import "math"

type userPhase int

const (
	userSilent userPhase = iota
	userSpeaking
	userEnding
)

// onset is sound that may become speech.
type onset struct {
	fromMS   int
	frames   int // of speech
	gap      int // frames since the last of them
	loudness loudness
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
	voted    bool // the model was asked in this pause
	vote     float32
	asked    bool // Transcribe was reported
	withheld bool // SpeechStarted is not reported, because the agent speaks
	joined   bool
	joinedMS int
}

// overshadows reports whether a level is so far below the user's own that it is somebody else's, or
// the room's: speech in the background would otherwise keep an utterance from ending.
func (u *user) overshadows(levelDB float64) bool {
	const below, enough = 18, 6
	return u.phase != userSilent && u.loudness.frames >= enough && levelDB < u.loudness.meanDB()-below
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
	const below, belowSpeaking, fallPerSecond = 15, 10, 0.5
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
	const weight = 0.3
	if ms < endingMS {
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

// listen waits for the beginning of speech.
func (t *Taker) listen(speech bool, levelDB float64) {
	o := &t.onset
	if !speech {
		if o.gap++; o.gap*frameMS > gapMS {
			*o = onset{}
		}
		return
	}
	if o.frames == 0 {
		o.fromMS = t.NowMS() - frameMS
	}
	o.frames, o.gap = o.frames+1, 0
	o.loudness.add(levelDB)
	if (o.frames+1)*frameMS > t.settings.MinSpeechMS {
		t.begin()
	}
}

// begin makes the onset the beginning of an utterance.
func (t *Taker) begin() {
	now := t.NowMS()
	t.user = user{
		phase: userSpeaking, speechMS: t.onset.fromMS, fromMS: max(t.onset.fromMS-t.settings.PrefixMS, t.heardToMS),
		speechEndMS: now, speechFrames: t.onset.frames, run: t.onset.frames, loudness: t.onset.loudness,
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
	t.emitStarted()
}

func (t *Taker) emitStarted() {
	t.user.withheld = false
	t.emit(Event{
		Kind: SpeechStarted, FromMS: t.user.fromMS, ToMS: t.NowMS(), Joined: t.user.joined, JoinedMS: t.user.joinedMS,
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
		u.phase, u.speechEndMS, u.likely, u.voted, u.asked, u.final = userSpeaking, now, false, false, false, false
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
