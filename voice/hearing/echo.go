package hearing

import (
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/voice/hearing/utterance"
)

const (
	// echoWithinMS is how much later than it is played the agent's sound may come back.
	echoWithinMS = 400

	// unknownCouplingDB is how much quieter than what is played the echo is, before it was
	// measured: as loud as a loudspeaker beside the microphone.
	unknownCouplingDB = -12

	// knownUserDB is taken off while only the user was measured, and not the echo: somebody who speaks
	// just as the agent begins is heard, and words tell when it was the echo.
	knownUserDB = 5

	// echoMarginDB is how far above the expected echo speech is.
	echoMarginDB = 3

	// strangerDB is added until the user has spoken: nothing is known of how loud they are.
	strangerDB = 3

	// raiseDB is added when the agent's words were heard twice.
	raiseDB = 6

	// blockMS is the time over which the coupling is measured.
	blockMS = 512

	// wordsEchoMS is how long after it was said a text still echoes in a transcriber's words.
	wordsEchoMS = 1500
)

// piece is audio that is played to the user.
type piece struct {
	fromMS, toMS int
	levelDB      float64
}

// echo knows what of the agent's sound comes back by the microphone: it learns how much quieter it
// is (the coupling), and it knows the words.
type echo struct {
	pieces     []piece
	texts      []Said
	couplingDB float64
	stranger   bool     // the user has not spoken yet
	times      int      // how often the agent's words were heard
	blocks     int      // how often the coupling was measured
	block      loudness // of the input, since the last measurement
}

func (e *echo) play(p piece) {
	e.pieces = append(e.pieces, p)
}

func (e *echo) add(said Said, nowMS int) {
	const kept = 10_000
	e.texts = slices.DeleteFunc(e.texts, func(old Said) bool { return old.ToMS < nowMS-kept })
	e.texts = append(e.texts, said)
}

// cut forgets what will not be played. What the client already plays may still come back.
func (e *echo) cut() {
	for i := range e.texts {
		e.texts[i].Protected = false
	}
}

// expectedDB is the level above which a frame that ended now is no echo.
func (e *echo) expectedDB(nowMS int) float64 {
	raised := 0.0
	if e.times >= 2 {
		raised = raiseDB
	}
	switch {
	case e.stranger:
		raised += strangerDB
	case e.blocks == 0:
		raised -= knownUserDB
	}
	return e.loudestDB(nowMS-frameMS-echoWithinMS, nowMS) + e.couplingDB + echoMarginDB + raised
}

// explains reports whether a frame that ended now is not louder than the echo.
func (e *echo) explains(nowMS int, levelDB float64) bool {
	return levelDB <= e.expectedDB(nowMS)
}

// drowned reports whether speech is so much louder than the echo was so far that words of the agent
// in it are the end of an echo before it.
func (e *echo) drowned(nowMS int, levelDB float64) bool {
	const louder, measured = 10, 2
	return e.blocks >= measured && levelDB >= e.expectedDB(nowMS)+louder
}

// loudestDB is the level of the loudest piece that is played at any time between two times.
func (e *echo) loudestDB(fromMS, toMS int) float64 {
	loudest := math.Inf(-1)
	for _, p := range e.pieces {
		if p.fromMS < toMS && p.toMS > fromMS {
			loudest = max(loudest, p.levelDB)
		}
	}
	return loudest
}

// learn measures the coupling over blocks in which the agent was played and the user did not speak.
func (e *echo) learn(nowMS int, levelDB float64, speech bool) {
	if speech {
		e.block = loudness{}
		return
	}
	e.block.add(levelDB)
	if e.block.frames*frameMS < blockMS {
		return
	}
	heard := e.block.meanDB()
	e.block = loudness{}
	played := e.meanDB(nowMS-blockMS-echoWithinMS, nowMS)
	e.pieces = slices.DeleteFunc(e.pieces, func(p piece) bool { return p.toMS < nowMS-2*blockMS-echoWithinMS })
	if math.IsInf(played, -1) {
		return
	}
	e.blocks++
	const weight = 0.5
	e.couplingDB += weight * (min(heard-played, 0) - e.couplingDB)
}

// meanDB is the mean level of what is played between two times, −Inf if that is less than half of
// the time.
func (e *echo) meanDB(fromMS, toMS int) float64 {
	var covered int
	var power float64
	for _, p := range e.pieces {
		if overlap := min(p.toMS, toMS) - max(p.fromMS, fromMS); overlap > 0 {
			covered += overlap
			power += float64(overlap) * math.Pow(10, p.levelDB/10)
		}
	}
	if covered < (toMS-fromMS)/2 {
		return math.Inf(-1)
	}
	return 10 * math.Log10(power/float64(covered))
}

// seen notes that the agent's own words were heard, at a level.
func (e *echo) seen(nowMS int, levelDB float64) {
	e.times++
	if loudest := e.loudestDB(nowMS-blockMS-echoWithinMS, nowMS); !math.IsInf(loudest, -1) {
		e.couplingDB = min(max(e.couplingDB, levelDB-loudest), 0)
	}
}

// around is what the agent said around speech that began at a time, as far as it was played by now.
func (e *echo) around(speechMS, nowMS int) string {
	var texts []string
	for _, said := range e.texts {
		if said.ToMS >= speechMS-wordsEchoMS && said.FromMS <= nowMS {
			texts = append(texts, said.Text)
		}
	}
	return strings.Join(texts, " ")
}

// strip leaves out the first of a user's words as long as the agent says them: the end of its words
// that came back before the user spoke. It leaves one word at least.
func strip(words []string, agentText string) []string {
	own := utterance.Words(agentText)
	for len(words) > 1 && slices.Contains(own, words[0]) {
		words = words[1:]
	}
	return words
}

// mentions reports whether a text has a word.
func mentions(text, word string) bool {
	return slices.Contains(utterance.Words(text), word)
}
