package speechtest

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// SpeakingSetup is what the suite wants to be started: the service's fake, which wants Key and
// follows Replies, and a synthesizer of it with APIKey and Timeouts.
type SpeakingSetup struct {
	APIKey string
	// BaseURL replaces the fake's when it is set.
	BaseURL  string
	Timeouts speech.Timeouts
	Replies  []Spoken
}

// SpeakingTraits say what a synthesizer can do.
type SpeakingTraits struct {
	// Words: it gives the times of words.
	Words bool
	// Language, Instructions: it sends them.
	Language, Instructions bool
	// Rate is that of its samples.
	Rate int
}

// StartSynthesizer starts a fake and its synthesizer.
type StartSynthesizer func(t *testing.T, s SpeakingSetup) (speech.Synthesizer, *SpeakingScript)

// RunSynthesizer is the conformance suite of synthesizers that call a service.
func RunSynthesizer(t *testing.T, traits SpeakingTraits, start StartSynthesizer) {
	t.Helper()
	s := speakingSuite{traits, start}
	t.Run("Speaks", s.speaks)
	t.Run("AsItComes", s.asItComes)
	t.Run("NothingToSay", s.nothingToSay)
	t.Run("Refusals", s.refusals)
	t.Run("WrongKey", s.wrongKey)
	t.Run("Repeats", s.repeats)
	t.Run("Ends", s.ends)
	t.Run("TooSlow", s.tooSlow)
	t.Run("ListenerStops", s.listenerStops)
	t.Run("CallerHangsUp", s.callerHangsUp)
	t.Run("NobodyThere", s.nobodyThere)
	t.Run("FollowsNoRedirect", s.followsNoRedirect)
}

type speakingSuite struct {
	traits SpeakingTraits
	start  StartSynthesizer
}

func (s speakingSuite) with(t *testing.T, replies ...Spoken) (speech.Synthesizer, *SpeakingScript) {
	t.Helper()
	return s.start(t, SpeakingSetup{APIKey: Key, Timeouts: patient, Replies: replies})
}

// Bytes are samples as services send them.
func Bytes(samples []int16) []byte {
	var data []byte
	for _, sample := range samples {
		data = binary.LittleEndian.AppendUint16(data, uint16(sample))
	}
	return data
}

// spoken is all that a synthesizer emitted.
type spoken struct {
	samples []int16
	words   []speech.Word
	pieces  int
}

// speak collects what is emitted, and checks each piece.
func (s speakingSuite) speak(t *testing.T, y speech.Synthesizer, asked speech.Speech) (spoken, error) {
	t.Helper()
	var all spoken
	err := y.Speak(t.Context(), asked, func(p speech.Piece) error {
		if p.Rate != s.traits.Rate || p.Provider != y.Name() || len(p.Samples)+len(p.Words) == 0 {
			t.Errorf("a piece of %d samples at %d Hz by %q", len(p.Samples), p.Rate, p.Provider)
		}
		all.samples, all.words, all.pieces = append(all.samples, p.Samples...), append(all.words, p.Words...), all.pieces+1
		return nil
	})
	return all, err
}

// hello has pieces that are cut within samples, and words of which one is cut in two.
func hello(rate int) (Spoken, []int16) {
	samples := Tone(rate)
	data := Bytes(samples)
	cut := rate + 1 // odd: half a second and half a sample
	return Spoken{
		Pieces: [][]byte{data[:cut], data[cut:]},
		Words: [][]speech.Word{
			{{Text: "Hello", StartMS: 0, EndMS: 300}, {Text: "wor", StartMS: 350, EndMS: 500}},
			{{Text: "ld.", StartMS: 0, EndMS: 200}, {Text: "Bye.", StartMS: 250, EndMS: 450}},
		},
	}, samples
}

func (s speakingSuite) speaks(t *testing.T) {
	t.Parallel()
	reply, samples := hello(s.traits.Rate)
	y, script := s.with(t, reply)
	asked := speech.Speech{Text: "Hello \"world\".", Voice: "nora", Language: "en-GB", Speed: 1.1, Instructions: "Be calm."}
	got, err := s.speak(t, y, asked)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "samples", got.samples, samples)
	if s.traits.Words {
		same(t, "words", got.words, []speech.Word{
			{Text: "Hello", StartMS: 0, EndMS: 300}, {Text: "world.", StartMS: 350, EndMS: 700}, {Text: "Bye.", StartMS: 750, EndMS: 950},
		})
	}
	request := script.Requests()[0]
	want := SpokenRequest{Text: asked.Text, Voice: asked.Voice, Speed: asked.Speed, Model: request.Model}
	if s.traits.Language {
		want.Language = "en"
	}
	if s.traits.Instructions {
		want.Instructions = asked.Instructions
	}
	request.Header, request.Values = nil, nil
	same(t, "request", request, want)
	if request.Model == "" {
		t.Error("no model was sent")
	}
}

// asItComes: a piece is emitted before the next one is sent.
func (s speakingSuite) asItComes(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	data := Bytes(Tone(300))
	y, _ := s.with(t, Spoken{Pieces: [][]byte{data[:200], data[200:400], data[400:]}, Gate: gate})
	pieces := 0
	err := y.Speak(t.Context(), speech.Speech{Text: "Hello."}, func(p speech.Piece) error {
		if len(p.Samples) == 0 {
			return nil
		}
		if pieces++; pieces < 3 {
			gate <- struct{}{}
		}
		return nil
	})
	if err != nil || pieces != 3 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}

func (s speakingSuite) nothingToSay(t *testing.T) {
	t.Parallel()
	y, script := s.with(t)
	got, err := s.speak(t, y, speech.Speech{Text: " \n"})
	if err != nil || got.pieces != 0 || len(script.Requests()) != 0 {
		t.Errorf("%d pieces, %d requests, %v", got.pieces, len(script.Requests()), err)
	}
}

func (s speakingSuite) refusals(t *testing.T) {
	t.Parallel()
	for _, row := range refusalRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			y, _ := s.with(t, Spoken{Refusal: row.refusal}, Spoken{Refusal: row.refusal})
			_, err := s.speak(t, y, speech.Speech{Text: "Hello."})
			if f := failed(t, err, row.reason, y.Name()+" "+row.words); f.RetryAfter != row.after {
				t.Errorf("retry after %s", f.RetryAfter)
			}
		})
	}
}

func (s speakingSuite) wrongKey(t *testing.T) {
	t.Parallel()
	y, script := s.start(t, SpeakingSetup{APIKey: wrongKey, Timeouts: patient})
	_, err := s.speak(t, y, speech.Speech{Text: "Hello."})
	failed(t, err, fault.UpstreamFailed, y.Name()+" (status 401) refused the API key")
	if n := len(script.Requests()); n != 0 {
		t.Errorf("%d requests got in", n)
	}
}

// repeats: once more after a failure that may pass, unless another synthesizer can be asked or the
// service limits its rate.
func (s speakingSuite) repeats(t *testing.T) {
	t.Parallel()
	overloaded := Spoken{Refusal: Refusal{Status: http.StatusServiceUnavailable}}
	limited := Spoken{Refusal: Refusal{Status: http.StatusTooManyRequests, RetryAfter: "17"}}
	fine, samples := hello(s.traits.Rate)
	y, _ := s.with(t, overloaded, fine)
	got, err := s.speak(t, y, speech.Speech{Text: "Hello world."})
	if err != nil || len(got.samples) != len(samples) {
		t.Errorf("%d samples, %v", len(got.samples), err)
	}
	y, _ = s.with(t, overloaded, fine)
	_, err = s.speak(t, y, speech.Speech{Text: "Hello world.", Standby: true})
	failed(t, err, fault.ServiceUnavailable, "503")
	y, _ = s.with(t, limited, fine)
	_, err = s.speak(t, y, speech.Speech{Text: "Hello world."})
	failed(t, err, fault.ServiceUnavailable, "429")
}

// ends: speech that does not end well is an error, and what was spoken before it was emitted.
func (s speakingSuite) ends(t *testing.T) {
	t.Parallel()
	for name, end := range badEnds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples := Tone(1000)
			reply := Spoken{Pieces: [][]byte{Bytes(samples)}, End: end}
			y, _ := s.with(t, reply, reply)
			got, err := s.speak(t, y, speech.Speech{Text: "Hello."})
			failed(t, err, fault.UpstreamFailed, y.Name())
			if end == EndCut {
				same(t, "samples", got.samples, samples)
			}
		})
	}
}

func (s speakingSuite) tooSlow(t *testing.T) {
	t.Parallel()
	first, between := patient, patient
	first.FirstAudio, between.BetweenAudio = waitShort, waitShort
	never := Spoken{Pieces: [][]byte{Bytes(Tone(1000))}, Gate: make(chan struct{})}
	y, _ := s.start(t, SpeakingSetup{APIKey: Key, Timeouts: first, Replies: []Spoken{never, never}})
	got, err := s.speak(t, y, speech.Speech{Text: "Hello."})
	failed(t, err, fault.UpstreamFailed, y.Name()+" did not begin to speak in time")
	if got.pieces != 0 {
		t.Errorf("%d pieces", got.pieces)
	}
	stalls := Spoken{Pieces: [][]byte{Bytes(Tone(1000))}, End: EndSilent}
	y, _ = s.start(t, SpeakingSetup{APIKey: Key, Timeouts: between, Replies: []Spoken{stalls}})
	got, err = s.speak(t, y, speech.Speech{Text: "Hello."})
	failed(t, err, fault.UpstreamFailed, y.Name()+" fell silent in the middle of a sentence")
	if got.pieces == 0 {
		t.Error("nothing was spoken")
	}
}

func (s speakingSuite) listenerStops(t *testing.T) {
	t.Parallel()
	reply, _ := hello(s.traits.Rate)
	y, _ := s.with(t, reply)
	enough := errors.New("enough")
	pieces := 0
	err := y.Speak(t.Context(), speech.Speech{Text: "Hello world."}, func(speech.Piece) error {
		pieces++
		return enough
	})
	if !errors.Is(err, enough) || pieces != 1 {
		t.Errorf("error %v after %d pieces", err, pieces)
	}
}

func (s speakingSuite) callerHangsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	y, _ := s.with(t, Spoken{Pieces: [][]byte{Bytes(Tone(1000))}, End: EndSilent})
	err := y.Speak(ctx, speech.Speech{Text: "Hello."}, func(speech.Piece) error {
		cancel()
		return nil
	})
	hungUp(t, err)
}

func (s speakingSuite) nobodyThere(t *testing.T) {
	t.Parallel()
	y, _ := s.start(t, SpeakingSetup{APIKey: Key, BaseURL: closedURL(), Timeouts: patient})
	_, err := s.speak(t, y, speech.Speech{Text: "Hello."})
	failed(t, err, fault.UpstreamFailed, y.Name()+" could not be reached")
}

// followsNoRedirect: the key goes to the configured host only.
func (s speakingSuite) followsNoRedirect(t *testing.T) {
	t.Parallel()
	y, _ := s.start(t, SpeakingSetup{APIKey: Key, BaseURL: redirector(t), Timeouts: patient})
	_, err := s.speak(t, y, speech.Speech{Text: "Hello."})
	failed(t, err, fault.UpstreamFailed, "(status 307)")
}
