package hearing

import (
	"parlance.dev/parlance/voice/hearing/utterance"
	"parlance.dev/parlance/voice/hearing/vad"
)

const (
	// SampleRate is the rate of all audio here, in samples a second, one channel.
	SampleRate = 16_000

	frameMS = vad.FrameMS

	// gapMS is the longest gap within the first MinSpeechMS of speech.
	gapMS = 96

	// maskedMS is the longest time within it in which the agent's echo is as loud.
	maskedMS = 224

	// endingMS is the silence after which a speaker may have finished.
	endingMS = 200

	// modelSamples is how much audio an EndModel judges.
	modelSamples = 8 * SampleRate

	// wordsWithinMS is how long after speech its first words are waited for.
	wordsWithinMS = 1000
)

// Detector says of each frame of vad.FrameSamples samples how likely it is speech. vad.Gate and
// vad.Detector are detectors.
type Detector interface {
	Detect(samples []int16) vad.Frame
}

// Taker decides whose turn it is. Feed it the user's audio with Write, what a transcriber says with
// Words, and what is being played to the user with AgentSaid, AgentPlaying and AgentDone. Each call
// returns the events that it led to, in order. The same calls at the same places of the audio give
// the same events, in whatever pieces the audio is written, if an EndModel's answers come at the
// same places too. Not safe for concurrent use.
type Taker struct {
	settings Settings
	rules    *utterance.Rules
	detector Detector
	model    EndModel

	rest   []int16 // samples that do not fill a frame yet
	frames int
	events []Event
	// sound is the last of the audio, for the model only.
	sound []int16

	// floorDB is the level of the background.
	floorDB    float64
	onset      onset
	user       user
	agent      agent
	speaker    speaker
	background background

	asked  utterance.Value
	digits int

	// heardToMS is the end of the audio that belongs to earlier events.
	heardToMS int
	// last is the utterance that was committed last.
	last struct{ fromMS, speechEndMS int }
	// manualSpeech counts frames of speech since the last Commit, for Settings.Manual.
	manualSpeech int

	idleFromMS, idleCount int
}

// New returns a taker at the beginning of a conversation. model may be nil.
func New(settings Settings, detector Detector, model EndModel) *Taker {
	t := &Taker{detector: detector, model: model, agent: newAgent()}
	t.Set(settings)
	return t
}

// Set changes the settings from here on. An utterance that is being spoken when Manual is set is
// dismissed, and is the beginning of what Commit ends; the events of that are returned by the next
// call.
func (t *Taker) Set(settings Settings) {
	if settings.Manual && t.user.phase != userSilent {
		from, speech := t.user.fromMS, t.user.speechFrames
		t.dismiss(NoReason)
		t.heardToMS, t.manualSpeech = from, speech
	}
	t.settings, t.rules = settings, settings.rules()
}

// NowMS is the audio time: how many ms were written, in whole frames.
func (t *Taker) NowMS() int {
	return t.frames * frameMS
}

// Write takes samples of the user's audio. Time passes only by it: write silence for a client that
// sends nothing.
func (t *Taker) Write(samples []int16) []Event {
	if len(t.rest) > 0 {
		missing := min(vad.FrameSamples-len(t.rest), len(samples))
		t.rest = append(t.rest, samples[:missing]...)
		samples = samples[missing:]
		if len(t.rest) < vad.FrameSamples {
			return t.take()
		}
		t.frame(t.rest)
		t.rest = t.rest[:0]
	}
	for len(samples) >= vad.FrameSamples {
		t.frame(samples[:vad.FrameSamples])
		samples = samples[vad.FrameSamples:]
	}
	t.rest = append(t.rest, samples...)
	return t.take()
}

// Words tells all that a transcriber has understood of the speech since the last SpeechStarted or
// Pause. final says that it has heard that speech to its present end, and text may be empty then.
func (t *Taker) Words(text string, final bool) []Event {
	if t.user.phase == userSilent {
		return t.take()
	}
	t.user.words, t.user.final, t.user.wordsMS = text, final, t.NowMS()
	t.decide()
	return t.take()
}

// Expect says that the agent has asked for a value, until the next utterance. digits is how many a
// number has, 0 if unknown. AgentSaid calls it for questions that it recognizes.
func (t *Taker) Expect(value utterance.Value, digits int) {
	t.asked, t.digits = value, digits
}

// Commit ends an utterance here and now: all audio since the last one with Settings.Manual, else
// what the user is saying. Without any there is no event.
func (t *Taker) Commit() []Event {
	now := t.NowMS()
	switch {
	case t.settings.Manual && now > t.heardToMS:
		t.emit(Event{
			Kind: Commit, FromMS: t.heardToMS, ToMS: now, SpeechMS: t.manualSpeech * frameMS, Reason: ByCaller,
		})
		t.committed(t.heardToMS, now, now)
	case !t.settings.Manual && t.user.phase != userSilent:
		if t.agent.phase == agentPaused {
			t.interrupt(ByCaller)
		}
		t.commit(ByCaller)
	}
	return t.take()
}

// Discard forgets what the user has said since the last utterance.
func (t *Taker) Discard() []Event {
	if t.user.phase != userSilent {
		t.dismiss(NoReason)
	}
	t.manualSpeech, t.onset, t.heardToMS = 0, onset{}, t.NowMS()
	return t.take()
}

// State is where the conversation stands.
func (t *Taker) State() State {
	switch {
	case t.agent.phase == agentPaused:
		return Interrupted
	case t.user.phase == userSpeaking && !t.user.withheld:
		return UserSpeaking
	case t.user.phase == userEnding && !t.user.withheld:
		return Ending
	case t.agent.phase == agentPlaying:
		return Speaking
	case t.agent.phase == agentThinking:
		return Thinking
	}
	return Listening
}

// IsBackground reports whether sound of a level is nothing but background: nobody speaks or begins
// to, and it is hardly louder than what was heard before.
func (t *Taker) IsBackground(levelDB float64) bool {
	const margin = 3
	return t.State() == Listening && t.user.phase == userSilent && len(t.onset.frames) == 0 && levelDB <= t.floorDB+margin
}

func (t *Taker) emit(e Event) {
	e.AtMS = t.NowMS()
	t.events = append(t.events, e)
}

// take hands the events out.
func (t *Taker) take() []Event {
	events := t.events
	t.events = nil
	return events
}

// frame moves the conversation by one frame.
func (t *Taker) frame(samples []int16) {
	frame := t.detector.Detect(samples)
	t.frames++
	now := t.NowMS()
	t.floorDB = frame.FloorDB
	t.keep(samples)
	speech := float64(frame.Speech) >= t.threshold()
	t.agent.echo.stranger = !t.speaker.known
	echo := t.agent.echo.explains(now, frame.LevelDB)
	t.agent.echo.learn(now, frame.LevelDB, t.user.phase != userSilent || speech && !echo)
	switch {
	case t.settings.Manual:
		if speech {
			t.manualSpeech++
		}
	case t.user.phase == userSilent:
		t.listen(speech, echo, frame.LevelDB)
	default:
		// Once the agent is silent, what is as loud as the last of its echo is the user who goes on.
		own := !echo || t.agent.phase == agentSilent
		t.follow(speech && own && frame.LevelDB >= t.user.quietestDB(t.background.levelDB), frame.LevelDB)
	}
	if t.agent.over(now) {
		t.idleFromMS = now
		if t.user.withheld {
			t.emitStarted(false)
		}
	}
	t.idle()
}

// threshold is the probability from which a frame is speech: less within speech than before it.
func (t *Taker) threshold() float64 {
	const hysteresis = 0.15
	if len(t.onset.frames) > 0 || t.user.phase == userSpeaking {
		return t.settings.Threshold - hysteresis
	}
	return t.settings.Threshold
}

// keep stores the last 8 s of audio, if there is a model that listens to it.
func (t *Taker) keep(samples []int16) {
	const room = modelSamples + SampleRate // old audio is dropped once a second
	if t.model == nil {
		return
	}
	if len(t.sound)+len(samples) > room {
		t.sound = append(t.sound[:0], t.sound[len(t.sound)-modelSamples:]...)
	}
	t.sound = append(t.sound, samples...)
}

func (t *Taker) idle() {
	now := t.NowMS()
	if t.settings.IdleMS <= 0 || t.user.phase != userSilent || t.agent.phase != agentSilent ||
		now-t.idleFromMS < t.settings.IdleMS {
		return
	}
	t.idleCount++
	t.emit(Event{Kind: Idle, FromMS: t.idleFromMS, ToMS: now, Count: t.idleCount})
	t.idleFromMS = now
}
