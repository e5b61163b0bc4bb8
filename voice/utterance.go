package voice

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice/hearing"
)

// utterance is something the user says.
type utterance struct {
	// itemID is the item that it will be.
	itemID string
	// stream transcribes it while it is spoken. Where it is transcribed as a whole, samples are
	// kept for that instead. Neither could be done for the reason err.
	stream  speech.Stream
	samples []int16
	err     error
	// life ends with close.
	life   context.Context //nolint:containedctx // the life of what transcribes it
	cancel context.CancelFunc
	// attempt counts the transcriptions of the whole that were begun; attempting is set while the
	// last one, of attemptMS, is of use. wastedMS is how much the others have transcribed.
	attempt, attemptMS, wastedMS int
	attempting                   bool
	// likely says that it has probably ended.
	likely bool
	// joined says that it goes on from the one before, of whose answer nothing was heard.
	joined bool
	// overAgent says that it began while the agent spoke, whose echo is up to echoDB loud.
	overAgent bool
	echoDB    float64
	// isTold is set when the client was told that it has begun.
	isTold bool
	// respond says that it is answered. byClient says that only the client could commit it, with
	// the command commandID.
	respond, byClient bool
	commandID         string
	// lengthMS is its audio from fromMS on, and speechMS the speech in it. recordedTo is its end in
	// the recording.
	lengthMS, speechMS, recordedTo, fromMS int
	// levelDB is how loud it is, when it is overAgent.
	levelDB                                   float64
	speechEndedAt, committedAt, transcribedAt time.Time
	// committed is set when it has ended, ready when the words are known, or err is.
	committed  bool
	ready      bool
	transcript speech.Transcript

	// partials has the newest words of a streaming transcriber, which come on its goroutine.
	partials partials
	// words are those that the taker was told.
	words string
}

// partials hands the newest partial transcript over without waiting for anybody.
type partials struct {
	mu    sync.Mutex
	last  speech.Partial
	fresh bool
}

func (p *partials) put(partial speech.Partial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.fresh = partial, true
}

func (p *partials) take() (speech.Partial, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := p.fresh
	p.fresh = false
	return p.last, fresh
}

// write has the utterance go on.
func (u *utterance) write(samples []int16) {
	switch {
	case u.err != nil:
	case u.stream != nil:
		u.err = u.stream.Write(samples)
	case len(u.samples) < audio.Samples(speech.MaxUtterance, speech.HearingRate):
		u.samples = append(u.samples, samples...)
	}
}

// close gives the utterance up.
func (u *utterance) close() {
	u.cancel()
	if u.stream != nil {
		stream := u.stream
		u.stream = nil
		stream.Close()
	}
}

// openUtterance begins an utterance with what was heard since an audio time. mu is held.
func (c *Call) openUtterance(fromMS int) {
	if c.ears.current != nil {
		return
	}
	u := &utterance{itemID: idgen.New(idgen.Item)}
	u.life, u.cancel = context.WithCancel(c.life)
	c.ears.current = u
	switch {
	case c.stack.Transcriber == nil:
		u.err = c.whyDeaf()
	case c.stack.Streaming:
		options := speech.StreamOptions{Options: c.transcriberOptions(), PartialFunc: u.partials.put}
		u.stream, u.err = c.stack.Transcriber.Open(u.life, options)
	}
	u.write(c.ears.track.since(fromMS))
}

func (c *Call) transcriberOptions() speech.Options {
	return speech.Options{Language: c.transcriptLanguage(), Hints: append(c.names(), c.stack.Hints...)}
}

// maxNameBytes bounds a variable that transcribers are told as a name.
const maxNameBytes = 60

// names are the names among the session's variables: people say them, and transcribers do not know
// them.
func (c *Call) names() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.session.DynamicVariables)) {
		value := strings.TrimSpace(c.session.DynamicVariables[name])
		if strings.HasSuffix(name, "name") && value != "" && len(value) <= maxNameBytes {
			names = append(names, value)
		}
	}
	return names
}

// takeWords tells the taker, and the client, what was understood so far. mu is held.
func (c *Call) takeWords(u *utterance) {
	partial, fresh := u.partials.take()
	if !fresh || partial.Text == u.words && !partial.Final {
		return
	}
	if partial.Text != u.words {
		u.words = partial.Text
		c.out = append(c.out, Hearing{ItemID: u.itemID, Text: u.words})
		if u.likely && !u.joined {
			c.anticipate(u.words)
		}
	}
	c.follow(c.ears.taker.Words(partial.Text, partial.Final && partial.EndOfSpeech))
}

// transcribePart transcribes what was said so far into a pause of the agent, where the transcriber
// does not stream. mu is held.
func (c *Call) transcribePart(e hearing.Event) {
	u := c.ears.current
	if u == nil || c.stack.Transcriber == nil {
		return
	}
	heard := speech.Utterance{Samples: c.ears.track.since(e.FromMS), Options: c.transcriberOptions()}
	transcriber := c.stack.Transcriber
	c.s.workers.Go(func() {
		transcript, err := speech.Transcribe(c.life, transcriber, heard)
		c.mu.Lock()
		defer c.unlock(true)
		if c.ears.current != u || c.over {
			return
		}
		if err != nil || speech.IsHallucination(transcript, e.ToMS-e.FromMS) {
			transcript.Text = ""
		}
		c.follow(c.ears.taker.Words(transcript.Text, true))
	})
}

// finish has an utterance that has ended transcribed to its end. mu is held.
func (c *Call) finish(u *utterance) {
	u.committed = true
	switch {
	case u.err != nil, u.ready: // ready since it had probably ended
		u.ready, u.transcribedAt = true, later(u.transcribedAt, u.committedAt)
		u.cancel()
		c.deliver()
	case u.stream == nil:
		c.transcribe(u)
	default:
		stream := u.stream
		c.s.workers.Go(func() {
			transcript, err := stream.Finish(c.life)
			stream.Close()
			c.mu.Lock()
			defer c.unlock(true)
			u.stream = nil
			c.transcribed(u, transcript, err)
		})
	}
}

// transcribed takes the transcript of an utterance. mu is held.
func (c *Call) transcribed(u *utterance, transcript speech.Transcript, err error) {
	u.transcript, u.err, u.ready, u.transcribedAt = transcript, err, true, c.s.now()
	u.cancel()
	c.deliver()
}

// deliver tells the conversation what was said, in the order in which it was said. mu is held.
func (c *Call) deliver() {
	for len(c.ears.pending) > 0 && c.ears.pending[0].ready && !c.over {
		u := c.ears.pending[0]
		c.ears.pending = c.ears.pending[1:]
		c.understood(u)
	}
	if len(c.ears.pending) == 0 {
		c.commands = append(c.commands, c.ears.behind...)
		c.ears.behind = nil
		if c.ears.known != nil {
			close(c.ears.known)
			c.ears.known = nil
		}
	}
}

// understood takes the words of an utterance. mu is held.
func (c *Call) understood(u *utterance) {
	text := sayable(u.transcript.Text)
	if u.err == nil {
		c.meterHeard(u)
	}
	heardMS := u.speechMS
	if c.manual() {
		heardMS = u.lengthMS // nobody but the client says where the speech is
	}
	switch {
	case u.err != nil:
		c.notUnderstood(u)
		return
	case text == "", speech.IsHallucination(u.transcript, heardMS):
		c.s.deps.Metrics.dropped(text != "")
		c.drop(u, hearing.NoWords)
		return
	case u.overAgent && u.levelDB < u.echoDB+louderThanEcho && c.ears.taker.Echoes(text, u.fromMS, u.levelDB):
		c.s.deps.Metrics.falseStart(hearing.Echo.String())
		c.drop(u, hearing.Echo)
		c.sayRest()
		return
	}
	if u.joined {
		c.takeBack()
	}
	c.noteLanguage(u.transcript.Language)
	c.markUser(u, text)
	c.said(u, text)
}

// notUnderstood takes an utterance whose words nobody knows. mu is held.
func (c *Call) notUnderstood(u *utterance) {
	if c.life.Err() != nil {
		return
	}
	c.anticipate("")
	if u.joined {
		c.player.resume()
	}
	if c.stack.Transcriber == nil {
		u.respond = false
	} else {
		c.s.deps.Log.WarnContext(c.life, "utterance not transcribed", "session_id", c.session.ID, "error", u.err)
	}
	c.ears.unknown[u.itemID] = fault.From(u.err)
	c.said(u, "")
}

// louderThanEcho is how many dB above the agent's echo somebody speaks who is not it, although they
// say the same words: people repeat what they have heard.
const louderThanEcho = 6

// sayable is a transcript as the conversation takes it: a transcriber may write anything.
func sayable(text string) string {
	text = strings.TrimSpace(sessions.StorableText(text))
	if characters := []rune(text); len(characters) > sessions.MaxTextChars {
		text = string(characters[:sessions.MaxTextChars])
	}
	return text
}

// drop forgets an utterance in which the user has said nothing, and ends the wait for an answer to
// it. mu is held.
func (c *Call) drop(u *utterance, why hearing.Reason) {
	c.anticipate("")
	if u.isTold {
		c.out = append(c.out, SpeechDropped{ItemID: u.itemID, Reason: why.String()})
	}
	if u.byClient {
		c.out = append(c.out, live.Failed{CommandID: u.commandID, Err: fault.Wrap(ErrNoAudio, fault.InvalidRequest,
			"No words were heard in the audio.")})
	}
	if u.joined {
		c.player.resume() // the answer to what was said before goes on
		return
	}
	c.ears.taker.AgentDone()
}
