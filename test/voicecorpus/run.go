package voicecorpus

import (
	"math"
	"strings"

	"parlance.dev/parlance/test/voices"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

const (
	chunkMS = 20
	// pieceMS is the length of the pieces in which the agent's sound is sent.
	pieceMS = 100
	// aheadMS is how far ahead of being played a piece is sent.
	aheadMS = 200
	// prefixMS is how much audio before a barge-in the transcriber gets.
	prefixMS = 300
	// wholeDelayMS is how long a transcriber of whole utterances takes.
	wholeDelayMS = 400
)

// run is one recording being played.
type run struct {
	r      *Recording
	taker  *hearing.Taker
	stream bool

	nowMS  int
	events []hearing.Event
	// fromMS is where the speech began whose words are told; −1 when nobody speaks.
	fromMS int
	told   string
	said   []hearing.Said // the agent's sentences that are still to be told
	sentMS int            // how much of the agent's sound was sent
	paused bool
	cutMS  int // when the agent was interrupted; −1
	muted  [][2]int
	answer struct { // of a transcriber of whole utterances
		atMS int
		text string
	}
}

// Run plays a recording and returns the events. With settings.Streaming a transcriber tells the
// words as they come; else one transcribes what the taker asks for. The sound of an agent that is
// paused or interrupted does not come back as an echo, beyond what was sent before.
func Run(r *Recording, settings hearing.Settings, detector hearing.Detector) []hearing.Event {
	settings.Language = r.Language
	p := &run{r: r, taker: hearing.New(settings, detector, nil), stream: settings.Streaming, fromMS: -1, cutMS: -1}
	p.answer.atMS, p.said = -1, r.sentences()
	for p.nowMS < msOf(len(r.Samples)) {
		p.sendAgent()
		p.take(p.taker.Write(p.chunk()))
		p.nowMS += chunkMS
		p.transcribe()
	}
	return p.events
}

// chunk is what the microphone hears in the next 20 ms.
func (p *run) chunk() []int16 {
	from, to := samplesOf(p.nowMS), min(samplesOf(p.nowMS+chunkMS), len(p.r.Samples))
	if p.r.Echo == nil || p.silenced(p.nowMS-p.r.EchoDelayMS) {
		return p.r.Samples[from:to]
	}
	heard := make([]int16, to-from)
	for i := range heard {
		heard[i] = p.r.Samples[from+i]
		if from+i < len(p.r.Echo) {
			heard[i] = voices.Clip(float64(heard[i]) + float64(p.r.Echo[from+i]))
		}
	}
	return heard
}

// silenced reports whether the agent's sound of a time was not played.
func (p *run) silenced(atMS int) bool {
	if p.cutMS >= 0 && atMS >= p.cutMS {
		return true
	}
	for i, span := range p.muted {
		if atMS >= span[0]+aheadMS && (atMS < span[1] || p.paused && i == len(p.muted)-1) {
			return true
		}
	}
	return false
}

func (p *run) sendAgent() {
	r := p.r
	if r.AgentSound == nil || p.cutMS >= 0 {
		return
	}
	for len(p.said) > 0 && p.nowMS >= p.said[0].FromMS-aheadMS {
		p.taker.AgentSaid(p.said[0])
		p.said = p.said[1:]
	}
	for !p.paused && r.AgentFromMS+p.sentMS <= p.nowMS+aheadMS && p.sentMS < msOf(len(r.AgentSound)) {
		piece := r.AgentSound[samplesOf(p.sentMS):min(samplesOf(p.sentMS+pieceMS), len(r.AgentSound))]
		from := r.AgentFromMS + p.sentMS
		p.taker.AgentPlaying(from, from+msOf(len(piece)), vad.LevelDB(piece))
		if p.sentMS += pieceMS; p.sentMS >= msOf(len(r.AgentSound)) {
			p.taker.AgentDone()
		}
	}
}

// take follows events, and answers those that ask for something.
func (p *run) take(events []hearing.Event) {
	p.events = append(p.events, events...)
	for _, e := range events {
		switch e.Kind {
		case hearing.SpeechStarted, hearing.Pause:
			if e.Kind == hearing.Pause || p.fromMS < 0 {
				p.fromMS, p.told = max(e.FromMS-prefixMS, 0), ""
			}
			if e.Kind == hearing.Pause {
				p.paused = true
				p.muted = append(p.muted, [2]int{e.AtMS, math.MaxInt})
			}
		case hearing.Resume:
			p.resume(e.AtMS)
		case hearing.Interrupt:
			p.cutMS = e.AtMS
			p.paused = false
		case hearing.Transcribe:
			p.answer.atMS, p.answer.text = e.AtMS+wholeDelayMS, p.understood(e.FromMS, e.ToMS, math.MaxInt)
		case hearing.Commit:
			p.fromMS = -1
			if p.r.AgentSound == nil || e.AtMS > p.r.AgentFromMS {
				p.taker.AgentDone() // nothing is answered here
			}
		case hearing.FalseStart:
			p.fromMS = -1
		case hearing.EndLikely, hearing.Continued, hearing.SpeechStopped, hearing.Idle:
		}
	}
}

// resume goes on with the agent's sound; what would have been played meanwhile is left out, so that
// the times of the recording stay right.
func (p *run) resume(atMS int) {
	p.paused = false
	p.muted[len(p.muted)-1][1] = atMS
	for p.r.AgentFromMS+p.sentMS < atMS && p.sentMS+pieceMS < msOf(len(p.r.AgentSound)) {
		p.sentMS += pieceMS
	}
}

func (p *run) transcribe() {
	if p.answer.atMS >= 0 && p.nowMS >= p.answer.atMS {
		p.answer.atMS = -1
		p.take(p.taker.Words(p.answer.text, true))
	}
	if !p.stream || p.fromMS < 0 {
		return
	}
	if text := p.understood(p.fromMS, math.MaxInt, p.nowMS); text != p.told {
		p.told = text
		p.take(p.taker.Words(text, false))
	}
}

// understood are the words of speech between two times that are told by a time.
func (p *run) understood(fromMS, toMS, byMS int) string {
	var text strings.Builder
	for _, word := range p.r.Words {
		if word.FromMS < fromMS || word.FromMS > toMS || word.AtMS > byMS || word.Echo && !p.echoes(word) {
			continue
		}
		if strings.Trim(word.Text, ".?!") != "" && text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(word.Text)
	}
	return text.String()
}

// echoes reports whether a word of the agent is understood: it was played, and nobody spoke louder.
func (p *run) echoes(word Word) bool {
	return !p.silenced(word.FromMS-p.r.EchoDelayMS) && !spoken(p.r, word.FromMS, word.FromMS)
}
