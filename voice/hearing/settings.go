package hearing

import "parlance.dev/parlance/voice/hearing/utterance"

// Eagerness is how soon a speaker is taken to have finished.
type Eagerness int

const (
	// EagernessAuto is Medium.
	EagernessAuto Eagerness = iota
	// EagernessLow lets people take their time.
	EagernessLow
	// EagernessMedium is the default.
	EagernessMedium
	// EagernessHigh answers as soon as it can.
	EagernessHigh
)

// Settings decide about turns. Start from Defaults: zero is a value of its own in many fields.
type Settings struct {
	// Threshold is the probability of speech from which a frame counts as speech, 0 to 1.
	Threshold float64
	// PrefixMS is how much audio before the speech belongs to the utterance.
	PrefixMS int
	// SilenceMS is how long a speaker is silent after an utterance whose words say nothing about
	// its end, or that has no words.
	SilenceMS int
	// MinSpeechMS is how long speech lasts before it counts as begun.
	MinSpeechMS int
	// MinEndpointMS and MaxEndpointMS bound the silence after which an utterance ends.
	MinEndpointMS, MaxEndpointMS int
	// Eagerness shortens and lengthens the silences between these bounds.
	Eagerness Eagerness
	// Interrupt says whether speech interrupts the agent. If not, it is recorded, and is committed
	// while the agent goes on.
	Interrupt bool
	// CreateResponse says whether a committed utterance is answered; if not, the taker listens on.
	CreateResponse bool
	// Manual is push-to-talk: only Taker.Commit ends an utterance, and speech interrupts nothing.
	Manual bool
	// Streaming says that a transcriber calls Taker.Words while the user speaks. Speech without
	// words then makes no turn.
	Streaming bool
	// Punctuated says that the transcriber puts marks at the ends of sentences, also before it is
	// final. Words without one are then unfinished.
	Punctuated bool
	// IdleMS is the silence of both sides after which Idle is reported; 0 for never.
	IdleMS int
	// Language is the tag of the language that the user speaks ("en", "pt-BR").
	Language string
}

// Defaults are the settings of an agent that has none.
func Defaults() Settings {
	return Settings{
		Threshold: 0.5, PrefixMS: 300, SilenceMS: 500, MinSpeechMS: 200, MinEndpointMS: 250, MaxEndpointMS: 3000,
		Interrupt: true, CreateResponse: true, Language: "en",
	}
}

// endpointing is the silence in ms after which an utterance ends.
type endpointing struct {
	finished   int // after words that end a sentence
	open       int // after other words, and without words
	unfinished int // after words that have something to come
	value      int // after the beginning of a value that was asked for
	// vote is the probability from which an EndModel ends a turn.
	vote float32
}

func (s *Settings) endpointing() endpointing {
	e := endpointing{finished: 300, open: s.SilenceMS, unfinished: 1600, value: 3000, vote: 0.5}
	switch s.Eagerness {
	case EagernessLow:
		e = endpointing{finished: 500, open: s.SilenceMS + 300, unfinished: 2500, value: 3000, vote: 0.7}
	case EagernessHigh:
		e = endpointing{finished: 250, open: min(s.SilenceMS, 400), unfinished: 1000, value: 2000, vote: 0.4}
	case EagernessAuto, EagernessMedium:
	}
	return e
}

// bounded is a silence between the bounds of the settings.
func (s *Settings) bounded(silenceMS int) int {
	return min(max(silenceMS, s.MinEndpointMS), s.MaxEndpointMS)
}

func (s *Settings) rules() *utterance.Rules {
	return utterance.For(s.Language)
}

// EndModel is a model that judges from the sound whether a speaker has finished, such as Smart
// Turn. It is asked once in each pause of a speaker, after 200 ms.
type EndModel interface {
	// Ask starts a judgement and returns at once. The channel must have room for one value: it gets
	// the probability that the utterance has ended, or stays empty if the model fails. It is nil if
	// the model has too much to do.
	//
	// audio is the utterance at 16 kHz mono, with the pause: at most the last 8 s. The model may
	// keep it. words are those transcribed so far.
	Ask(audio []int16, words string) <-chan float32
}
