package voicecorpus

import (
	"strings"

	"parlance.dev/parlance/voice/hearing"
)

// Kind is what a Span is.
type Kind int

const (
	// Turn is an utterance that is to be answered.
	Turn Kind = iota
	// Interruption is speech that is to interrupt the agent.
	Interruption
	// Acknowledgement is speech that is not.
	Acknowledgement
	// Background is speech of somebody else, farther away.
	Background
)

// Span is somebody's speech.
type Span struct {
	Kind         Kind
	FromMS, ToMS int
	Text         string
	// Pauses are the pauses within, each its beginning and end.
	Pauses [][2]int
}

// Word is what a transcriber understands: at AtMS, of speech that began at FromMS.
type Word struct {
	AtMS, FromMS int
	Text         string
	// Echo words are the agent's: they are heard only while the agent is played.
	Echo bool
}

// Recording is a conversation.
type Recording struct {
	// Group is what is tried, for the table; Name tells recordings of a group apart.
	Group, Name string
	Language    string
	// Samples is what the microphone hears, without the echo of the agent; Echo is that.
	Samples, Echo []int16
	// Agent is what the agent says, from AgentFromMS on; its text, and its sound.
	AgentFromMS int
	AgentText   string
	AgentSound  []int16
	EchoDelayMS int
	Spans       []Span
	Words       []Word
}

// sentences are the agent's, at times by their letters.
func (r *Recording) sentences() []hearing.Said {
	if r.AgentText == "" {
		return nil
	}
	var all []hearing.Said
	length, at := msOf(len(r.AgentSound)), 0
	for sentence := range strings.SplitAfterSeq(r.AgentText, ". ") {
		from := at
		at += len(sentence)
		all = append(all, hearing.Said{
			Text:   sentence,
			FromMS: r.AgentFromMS + length*from/len(r.AgentText), ToMS: r.AgentFromMS + length*at/len(r.AgentText),
		})
	}
	return all
}
