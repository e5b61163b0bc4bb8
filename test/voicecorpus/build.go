package voicecorpus

import (
	"math/rand/v2"
	"strings"

	"parlance.dev/parlance/test/voices"
)

const (
	// wordDelayMS is how long after a word a streaming transcriber tells it.
	wordDelayMS = 150
	// markDelayMS is how long after the end of speech it puts the mark of a sentence's end.
	markDelayMS = 200
	// wrongMarks is one of how many pauses and ends has the wrong mark. They are counted out, not
	// drawn, so that a part of the corpus has as many.
	wrongMarks = 10
)

// builder puts a recording together.
type builder struct {
	voices *voices.Maker
	chance *rand.Rand
	r      *Recording
	marks  marks // counted on from the recording before
	err    error
}

// marks counts the pauses and ends of sentences.
type marks struct{ pauses, ends int }

func (b *builder) between(from, to int) int { return from + b.chance.IntN(to-from+1) }

func (b *builder) voice() voices.Voice { return englishVoices[b.chance.IntN(len(englishVoices))] }

func (b *builder) say(by voices.Voice, text string) []int16 {
	if b.err != nil {
		return nil
	}
	var samples []int16
	samples, b.err = b.voices.Say(by, text)
	return samples
}

// silence makes the recording longer.
func (b *builder) silence(ms int) {
	b.r.Samples = append(b.r.Samples, make([]int16, samplesOf(ms))...)
}

func (b *builder) nowMS() int { return msOf(len(b.r.Samples)) }

// speak adds an utterance at the end. "|" in the text is a pause of pauseMS.
func (b *builder) speak(kind Kind, by voices.Voice, text string, pauseMS int) {
	span := Span{Kind: kind, FromMS: b.nowMS(), Text: text}
	parts := strings.Split(text, "|")
	for i, part := range parts {
		if i > 0 {
			span.Pauses = append(span.Pauses, [2]int{b.nowMS(), b.nowMS() + pauseMS})
			b.silence(pauseMS)
		}
		part = strings.TrimSpace(part)
		from := b.nowMS()
		b.r.Samples = append(b.r.Samples, b.say(by, part)...)
		b.transcribe(part, from, b.nowMS(), i+1 == len(parts))
	}
	span.ToMS = b.nowMS()
	b.r.Spans = append(b.r.Spans, span)
}

// transcribe adds the words of a part to what the transcriber understands. They are spread over
// the part by their letters. The mark at the end of a sentence comes after the silence behind it.
func (b *builder) transcribe(part string, fromMS, toMS int, last bool) {
	text := strings.TrimRight(part, ".?!")
	mark := part[len(text):]
	count := &b.marks.pauses
	if last {
		count = &b.marks.ends
	}
	if *count++; *count%wrongMarks == 0 {
		mark = map[bool]string{true: "", false: "."}[last]
	}
	letters, said := len(text), 0
	for _, word := range strings.Fields(text) {
		begin := fromMS + (toMS-fromMS)*said/letters
		said += len(word) + 1
		end := fromMS + (toMS-fromMS)*min(said, letters)/letters
		b.r.Words = append(b.r.Words, Word{AtMS: end + wordDelayMS, FromMS: begin, Text: word})
	}
	if mark != "" && len(b.r.Words) > 0 {
		b.r.Words = append(b.r.Words, Word{AtMS: toMS + markDelayMS, FromMS: toMS, Text: mark})
	}
}

// overlap adds speech while the agent speaks, without making the recording longer.
func (b *builder) overlap(kind Kind, by voices.Voice, text string, atMS int, gainDB float64) {
	sound := b.say(by, text)
	mix(b.r.Samples, sound, atMS, gainDB)
	b.r.Spans = append(b.r.Spans, Span{Kind: kind, FromMS: atMS, ToMS: atMS + msOf(len(sound)), Text: text})
	b.transcribe(text, atMS, atMS+msOf(len(sound)), true)
}

// agent lets the agent speak from now on, and makes the recording that long. Its sound comes back
// after delayMS, couplingDB quieter; 0 is without an echo.
func (b *builder) agent(text string, delayMS int, couplingDB float64) {
	b.r.AgentFromMS, b.r.AgentText = b.nowMS(), text
	b.r.AgentSound = b.say(agentVoice, text)
	b.r.EchoDelayMS = delayMS
	from := b.nowMS()
	b.silence(msOf(len(b.r.AgentSound)))
	if couplingDB == 0 {
		return
	}
	b.r.Echo = make([]int16, len(b.r.Samples)+samplesOf(delayMS))
	mix(b.r.Echo, b.r.AgentSound, from+delayMS, couplingDB)
	letters, said := len(text), 0
	length := msOf(len(b.r.AgentSound))
	for _, word := range strings.Fields(text) {
		begin := from + delayMS + length*said/letters
		said += len(word) + 1
		b.r.Words = append(b.r.Words, Word{
			AtMS: from + delayMS + length*said/letters + wordDelayMS, FromMS: begin, Text: word, Echo: true,
		})
	}
}

// noise adds a background over the whole recording at a level relative to the speech.
func (b *builder) noise(kind string, relativeDB float64) {
	ms := b.nowMS()
	var sound []int16
	switch kind {
	case "pink":
		sound = pinkNoise(b.chance, ms)
	case "brown":
		sound = brownNoise(b.chance, ms)
	case "music":
		sound = music(b.chance, ms)
	case "babble":
		sound = make([]int16, samplesOf(ms))
		for i := range 3 {
			at := 0
			for at < ms {
				text := sentences[b.chance.IntN(len(sentences))]
				speech := b.say(englishVoices[(i*3+1)%len(englishVoices)], strings.ReplaceAll(text, "|", ""))
				mix(sound, speech, at, 0)
				at += msOf(len(speech)) + b.between(0, 300)
			}
		}
	case "room": // a quiet room
		sound, relativeDB = pinkNoise(b.chance, ms), -45
	}
	mix(b.r.Samples, voices.AtLevel(sound, voices.Level+relativeDB), 0, 0)
}
