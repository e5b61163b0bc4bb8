package voice

import (
	"slices"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

const (
	// silenceAfter is how long a client sends nothing before it is taken to be silent; in speech a
	// little longer, so that a slow network ends no utterance. While the agent speaks there is
	// nothing to decide, and silence in the wrong place would have the agent's echo come when it is
	// not expected.
	silenceAfter       = 200 * time.Millisecond
	silenceAfterSpeech = 400 * time.Millisecond
	silenceAfterAgent  = 1500 * time.Millisecond
	// maxSilence bounds the silence that is heard at once, after a node was suspended.
	maxSilence = 5 * time.Second
	// MinCommitMS is the least audio that can be committed. Source: OpenAI.
	MinCommitMS = 100
	// MaxAppendBytes bounds an Append. Source: OpenAI.
	MaxAppendBytes = 15 << 20
	// maxManual bounds the audio of an utterance that the client commits.
	maxManual = speech.MaxUtterance
	// activityEvery is how often speech restarts the session's idle time-out.
	activityEvery = 10 * time.Second
)

// ears are what a call hears with.
type ears struct {
	decoder   audio.Decoder
	resampler *audio.Resampler
	taker     *hearing.Taker
	track     track
	// samples is a buffer for the piece that is being heard.
	samples, decoded []int16
	// fedUntil is until when the user was heard, or was taken to be silent.
	fedUntil, lastAppend, lastActivity time.Time
	stall                              stall
	// full is set when the client was told that its uncommitted audio is too long.
	full bool
	// current is the utterance that is being spoken; nil: there is none. pending are those that
	// were committed, oldest first, until their words are known.
	current *utterance
	pending []*utterance
	// committing is the command by which the client commits just now.
	committing string
	// known, unless nil, is closed when the words of all utterances are known.
	known chan struct{}
	// behind are commands that wait for the words of the pending utterances.
	behind []live.Command
	// unknown is why the words of an item are not known.
	unknown map[string]*fault.Error
	// refused is set when the client was told that nothing transcribes.
	refused bool
}

func (e *ears) begin(c *Call) {
	e.unknown = map[string]*fault.Error{}
	e.taker = hearing.New(c.hearingSettings(), vad.New(), c.s.deps.EndModel)
	e.setFormat(c.input)
	now := c.s.now()
	e.fedUntil, e.lastAppend = now, now
}

// setFormat begins a stream in another format.
func (e *ears) setFormat(format audio.Format) {
	e.decoder = audio.Decoder{Format: format}
	resampler, err := audio.NewResampler(format.RateHz, hearing.SampleRate)
	if err != nil { // every known format has a known rate
		panic(err)
	}
	e.resampler = resampler
}

func (e *ears) end() {
	if e.current != nil {
		e.current.close()
	}
	for _, u := range e.pending {
		u.close()
	}
	e.current, e.pending = nil, nil
	if e.known != nil {
		close(e.known)
		e.known = nil
	}
}

// hear takes a piece of the user's sound. mu is held.
func (c *Call) hear(a Append) {
	e := &c.ears
	if c.ended {
		return
	}
	if c.stack.Transcriber == nil && !e.refused {
		e.refused = true
		c.out = append(c.out, live.Failed{CommandID: a.CommandID, Err: postgres.Decide(c.whyDeaf())})
	}
	now := c.s.now()
	e.lastAppend, e.fedUntil = now, now
	e.decoded = e.decoder.AppendDecode(e.decoded[:0], a.Data)
	e.samples = e.resampler.AppendResample(e.samples[:0], e.decoded)
	if c.isPushToTalk() && !c.hasRoom(a.CommandID, len(e.samples)) {
		return
	}
	c.recording.hear(e.samples, now)
	if !c.isTooMuch(e.samples, now) {
		c.listen(e.samples)
	}
}

// hasRoom reports whether more audio can wait to be committed, and says once when it cannot.
func (c *Call) hasRoom(commandID string, samples int) bool {
	e := &c.ears
	if e.track.uncommitted()+samples <= audio.Samples(maxManual, hearing.SampleRate) {
		return true
	}
	if !e.full {
		e.full = true
		c.out = append(c.out, live.Failed{CommandID: commandID, Err: fault.InvalidField("audio", "too_long",
			"At most %d minutes of audio wait to be committed; what comes now is dropped."+
				" Send input_audio_buffer.commit or .clear.", int(maxManual/time.Minute))})
	}
	return false
}

// whyDeaf is why nothing transcribes.
func (c *Call) whyDeaf() error {
	if c.stack.Deaf != nil {
		return c.stack.Deaf
	}
	return errNotConfigured()
}

// errNotConfigured says that nothing transcribes.
func errNotConfigured() *fault.Error {
	return fault.New(fault.STTNotConfigured, "No transcriber is configured, so audio is not heard. Send text; it is answered."+
		" The operator can set PARLANCE_STT_BASE_URL.")
}

// hearSilence has a client that sends nothing be silent. mu is held.
func (c *Call) hearSilence(now time.Time) {
	e := &c.ears
	if c.ended {
		return
	}
	after := silenceAfter
	switch e.taker.State() {
	case hearing.UserSpeaking, hearing.Ending:
		after = silenceAfterSpeech
	case hearing.Speaking, hearing.Interrupted:
		after = silenceAfterAgent
	case hearing.Listening, hearing.Thinking:
	}
	if now.Sub(e.lastAppend) < after || c.isPushToTalk() {
		return
	}
	if missing := min(now.Sub(e.fedUntil), maxSilence); missing > 0 {
		c.hearMissing(missing, now)
	}
}

// silence is sound of a length in which there is nothing, at hearing's rate.
func silence(length time.Duration) []int16 {
	return make([]int16, audio.Samples(length, hearing.SampleRate))
}

// listenedAtOnce is how many samples are heard before what was decided is carried out: a client may
// send a whole file at once, of which only the newest is kept.
const listenedAtOnce = 100 * samplesPerMS

// listen takes samples at hearing's rate. mu is held.
func (c *Call) listen(samples []int16) {
	for piece := range slices.Chunk(samples, listenedAtOnce) {
		c.listenTo(piece)
	}
}

func (c *Call) listenTo(samples []int16) {
	e := &c.ears
	e.track.append(samples, c.keptHistory())
	if u := e.current; u != nil {
		u.write(samples)
		c.takeWords(u)
	}
	c.follow(e.taker.Write(samples))
}

// manual reports whether only the client ends utterances: push-to-talk, or there is nothing that
// transcribes them.
func (c *Call) manual() bool { return c.isPushToTalk() || c.stack.Transcriber == nil }

// isPushToTalk reports whether the client has switched turn detection off: time passes by its sound
// alone.
func (c *Call) isPushToTalk() bool { return c.detection.Type == "" }

// keptHistory is how much of what was heard is kept beside the current utterance: the prefix of the
// next one, and while the agent speaks, speech that is recognised late.
func (c *Call) keptHistory() int {
	const ordinary, speaking = 3 * time.Second, 12 * time.Second
	if c.isPushToTalk() {
		return c.ears.track.uncommitted() + audio.Samples(ordinary, hearing.SampleRate)
	}
	kept := ordinary
	if c.ears.taker.State() == hearing.Speaking {
		kept = speaking
	}
	return audio.Samples(kept+time.Duration(c.detection.PrefixMS)*time.Millisecond, hearing.SampleRate)
}

// follow carries out the taker's decisions. mu is held.
func (c *Call) follow(events []hearing.Event) {
	for _, e := range events {
		if c.ended {
			return
		}
		switch e.Kind {
		case hearing.SpeechStarted:
			c.speechStarted(e)
		case hearing.SpeechStopped:
			if u := c.ears.current; u != nil {
				u.speechEndedAt = c.s.now().Add(-time.Duration(e.AtMS-e.ToMS) * time.Millisecond)
				if u.isTold {
					c.out = append(c.out, SpeechStopped{ItemID: u.itemID, AtMS: e.ToMS})
				}
			}
		case hearing.Commit:
			c.committed(e)
		case hearing.FalseStart:
			c.falseStart(e)
		case hearing.Pause:
			c.player.pause()
			c.openUtterance(max(0, e.FromMS-c.detection.PrefixMS))
			c.ears.current.overAgent, c.ears.current.echoDB = true, c.ears.taker.EchoDB()
		case hearing.Transcribe:
			c.transcribePart(e)
		case hearing.Interrupt:
			c.s.deps.Metrics.interrupted()
			c.stopSpeaking(turns.ReasonTurnDetected)
		case hearing.Resume:
			c.player.resume()
		case hearing.Idle:
			c.idle(e)
		case hearing.EndLikely:
			c.endLikely()
		case hearing.Continued:
			c.continued()
		}
	}
}

// speechStarted begins an utterance, and tells the client. mu is held.
func (c *Call) speechStarted(e hearing.Event) {
	if c.ears.current == nil {
		c.openUtterance(e.FromMS)
	}
	u := c.ears.current
	u.joined = e.Joined
	if e.Joined { // nothing of the answer was heard
		c.player.pause()
	}
	if u.isTold = !e.Quiet; u.isTold {
		c.out = append(c.out, SpeechStarted{ItemID: u.itemID, AtMS: e.FromMS})
	}
	c.recordActivity()
}

// recordActivity restarts the session's idle time-out.
func (c *Call) recordActivity() {
	if now := c.s.now(); now.Sub(c.ears.lastActivity) >= activityEvery {
		c.ears.lastActivity = now
		c.commands = append(c.commands, live.Activity{})
	}
}

// falseStart forgets what was taken for an utterance. mu is held.
func (c *Call) falseStart(e hearing.Event) {
	u := c.ears.current
	if u == nil {
		return
	}
	if e.Reason == hearing.NoWords && c.stack.Streaming && u.isTold { // none have come: the transcriber may be down
		c.out = append(c.out, SpeechStopped{ItemID: u.itemID, AtMS: e.ToMS})
		c.committed(e)
		return
	}
	u.close()
	c.anticipate("")
	c.ears.current = nil
	c.s.deps.Metrics.falseStart(e.Reason.String())
	if u.isTold {
		c.out = append(c.out, SpeechStopped{ItemID: u.itemID, AtMS: e.ToMS}, SpeechDropped{ItemID: u.itemID, Reason: e.Reason.String()})
	}
	if u.joined {
		c.player.resume()
	}
}

// committed ends the current utterance, and waits for its words. mu is held.
func (c *Call) committed(e hearing.Event) {
	ears := &c.ears
	if ears.current == nil { // push-to-talk, or it was spoken while the agent went on
		c.openUtterance(e.FromMS)
	}
	u := ears.current
	ears.current, ears.full = nil, false
	u.recordedTo = c.recording.at(c.s.now()) - (e.AtMS - e.ToMS)
	if u.fromMS = e.FromMS; u.overAgent {
		u.levelDB = vad.LevelDB(ears.track.since(e.FromMS))
	}
	u.lengthMS, u.speechMS, u.joined = e.ToMS-e.FromMS, e.SpeechMS, e.Joined
	u.commandID, u.byClient = ears.committing, c.manual()
	u.committedAt, u.respond = c.s.now(), c.detection.CreateResponse && !c.manual()
	if u.speechEndedAt.IsZero() {
		u.speechEndedAt = u.committedAt
	}
	ears.track.commit()
	ears.pending = append(ears.pending, u)
	c.finish(u)
}

// commit is push-to-talk. mu is held.
func (c *Call) commit(command Commit) {
	e := &c.ears
	length := e.track.uncommitted() * 1000 / hearing.SampleRate
	if c.manual() && length < MinCommitMS || !c.manual() && e.current == nil {
		c.out = append(c.out, live.Failed{CommandID: command.CommandID, Err: fault.Wrap(ErrNoAudio, fault.InvalidRequest,
			"Expected at least %d ms of audio, but the buffer has %d ms.", MinCommitMS, length)})
		return
	}
	c.ears.committing = command.CommandID
	c.follow(e.taker.Commit())
	c.ears.committing = ""
}

// clearInput forgets what was not committed. mu is held.
func (c *Call) clearInput() {
	c.ears.full = false
	c.follow(c.ears.taker.Discard())
	c.ears.track.commit()
	c.out = append(c.out, InputCleared{})
}

// said is what the conversation is told of an utterance.
func (c *Call) said(u *utterance, text string) {
	c.rest, c.anticipated = "", ""
	message := live.UserMessage{
		CommandID: ownCommand + u.itemID, ItemID: u.itemID, Text: text,
		Audio: &sessions.Audio{LengthMS: u.lengthMS, Transcribed: text != ""},
	}
	if !u.respond {
		c.commands = append(c.commands, message)
		return
	}
	respond := live.Respond{
		CommandID: ownCommand + u.itemID, Spoken: c.speaks() && !c.textOnly, Awaited: true,
		Heard: &turns.Heard{SpeechEndedAt: u.speechEndedAt, CommittedAt: u.committedAt, TranscribedAt: u.transcribedAt},
	}
	c.asked[respond.CommandID] = true
	c.commands = append(c.commands, live.Ask{Message: message, Respond: respond})
}
