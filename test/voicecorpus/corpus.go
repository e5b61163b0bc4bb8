package voicecorpus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"parlance.dev/parlance/test/voices"
)

// group is a kind of recording: how many of a whole corpus, and how one is made.
type group struct {
	name  string
	count int
	build func(b *builder, i int)
}

// groups are the kinds of recordings, at their counts in a corpus of scale 1: 300 in all.
var groups = []group{
	{"turns in noise", 40, turnInNoise},
	{"short turns", 16, shortTurn},
	{"pauses in sentences", 50, pausedTurn},
	{"values asked for", 12, value},
	{"turns over babble", 16, turnOverBabble},
	{"turns over music", 12, turnOverMusic},
	{"noise alone", 16, noiseAlone},
	{"music alone", 12, musicAlone},
	{"coughs and clicks", 20, coughs},
	{"echo alone", 20, echoAlone},
	{"acknowledgements", 36, acknowledged},
	{"interruptions", 28, interrupted},
	{"stop words", 10, stopped},
	{"background speech", 12, background},
}

// Corpus makes count/scale recordings of each group from a seed.
func Corpus(seed uint64, scale int) ([]*Recording, error) {
	spoken, err := voices.NewMaker(context.Background())
	if err != nil {
		return nil, err
	}
	var all []*Recording
	for number, g := range groups {
		var counted marks
		for i := range max(1, g.count/scale) {
			b := &builder{
				marks:  counted,
				voices: spoken, chance: rand.New(rand.NewPCG(seed, uint64(number*1000+i))),
				r: &Recording{Group: g.name, Name: fmt.Sprintf("%s %d", g.name, i), Language: "en"},
			}
			g.build(b, i)
			if b.err != nil {
				return nil, fmt.Errorf("%s: %w", b.r.Name, b.err)
			}
			counted = b.marks
			all = append(all, b.r)
		}
	}
	return all, nil
}

func (b *builder) sentence() string {
	return strings.ReplaceAll(sentences[b.chance.IntN(len(sentences))], "|", "")
}

func turnInNoise(b *builder, i int) {
	b.silence(b.between(600, 2000))
	text := b.sentence()
	if i%4 == 3 { // a long turn
		text += " " + b.sentence()
	}
	b.speak(Turn, b.voice(), text, 0)
	b.silence(3500)
	b.noise([]string{"pink", "brown"}[i%2], []float64{-20, -10, -5}[i%3])
}

func shortTurn(b *builder, i int) {
	b.silence(b.between(600, 1500))
	b.speak(Turn, b.voice(), short[i%len(short)], 0)
	b.silence(3500)
	b.noise([]string{"room", "pink"}[i%2], -20)
}

func pausedTurn(b *builder, i int) {
	b.silence(b.between(600, 1500))
	b.speak(Turn, b.voice(), sentences[i%len(sentences)], b.between(300, 1500))
	b.silence(2600)
	b.speak(Turn, b.voice(), sentences[(i+7)%len(sentences)], b.between(300, 1500))
	b.silence(3500)
	b.noise([]string{"room", "pink", "brown"}[i%3], -20)
}

func value(b *builder, i int) {
	asked := values[i%len(values)]
	b.silence(500)
	b.agent(asked.question, 0, 0)
	b.silence(b.between(400, 900))
	b.speak(Turn, b.voice(), asked.text, b.between(600, 1500))
	b.silence(4000)
	b.noise("room", 0)
}

func turnOverBabble(b *builder, i int) {
	b.silence(b.between(2000, 3500))
	b.speak(Turn, b.voice(), b.sentence(), 0)
	b.silence(3500)
	b.noise("babble", []float64{-20, -15}[i%2])
}

func turnOverMusic(b *builder, i int) {
	b.silence(b.between(1500, 2500))
	b.speak(Turn, b.voice(), b.sentence(), 0)
	b.silence(3500)
	b.noise("music", []float64{-20, -10, -5}[i%3])
}

func noiseAlone(b *builder, i int) {
	b.silence(8000)
	b.noise([]string{"pink", "brown"}[i%2], []float64{-20, -10, 0}[i%3])
}

func musicAlone(b *builder, i int) {
	b.silence(8000)
	b.noise("music", []float64{-20, -10, 0}[i%3])
	if i%2 == 0 { // it is turned on
		clear(b.r.Samples[:samplesOf(2000)])
	}
}

func coughs(b *builder, i int) {
	b.silence(8000)
	for at := 1000; at < 6500; at += b.between(1500, 2500) {
		sound := cough(b.chance)
		if i%3 == 2 {
			sound = clicks(b.chance)
		}
		mix(b.r.Samples, voices.AtLevel(sound, voices.Level), at, []float64{0, -6}[i%2])
	}
	b.noise("room", 0)
}

// asked is the beginning of a recording in which the agent speaks: a turn, then the answer.
func asked(b *builder, by voices.Voice, delayMS int, couplingDB float64) {
	b.silence(800)
	b.speak(Turn, by, b.sentence(), 0)
	b.silence(1800)
	b.agent(answers[b.chance.IntN(len(answers))], delayMS, couplingDB)
	b.silence(3000)
}

func echoAlone(b *builder, _ int) {
	asked(b, b.voice(), b.between(80, 300), -float64(b.between(12, 25)))
	b.noise("room", 0)
}

func acknowledged(b *builder, i int) {
	by, text := b.voice(), acknowledgements[i%len(acknowledgements)]
	if i%3 == 2 {
		other := foreign[i/3%len(foreign)]
		by, text, b.r.Language = other.by, other.texts[i%len(other.texts)], other.language
	}
	asked(b, by, b.between(80, 300), []float64{0, -25}[i%2])
	b.overlap(Acknowledgement, by, text, b.r.AgentFromMS+b.between(1500, 4000), 0)
	b.noise("room", 0)
}

func interrupted(b *builder, i int) {
	by := b.voice()
	asked(b, by, b.between(80, 300), []float64{0, -25, -18}[i%3])
	b.overlap(Interruption, by, interruptions[i%len(interruptions)], b.r.AgentFromMS+b.between(1500, 4000), 0)
	b.noise([]string{"room", "pink"}[i%2], -20)
}

func stopped(b *builder, i int) {
	by := b.voice()
	asked(b, by, b.between(80, 300), []float64{0, -25}[i%2])
	b.overlap(Interruption, by, stops[i%len(stops)], b.r.AgentFromMS+b.between(1500, 4000), 0)
	b.noise("room", 0)
}

func background(b *builder, i int) {
	by := englishVoices[i%len(englishVoices)]
	asked(b, by, 0, 0)
	b.overlap(Background, englishVoices[(i+1)%len(englishVoices)], b.sentence(), b.r.AgentFromMS+b.between(1000, 2500), -15)
	b.noise("room", 0)
}
