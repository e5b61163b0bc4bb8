package speechtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// HearingSetup is what the suite wants to be started: the service's fake, which wants Key and
// follows Replies, and a transcriber of it with APIKey and Timeouts.
type HearingSetup struct {
	APIKey string
	// BaseURL replaces the fake's when it is set.
	BaseURL  string
	Timeouts speech.Timeouts
	Replies  []Heard
}

// HearingTraits say what a transcriber can do.
type HearingTraits struct {
	// Streams: it gives partial transcripts.
	Streams bool
	// AppendOnly: partial transcripts are never corrected, and say only their text.
	AppendOnly bool
	// NoSpeech: it gives the probability that nobody spoke.
	NoSpeech bool
	// NoWords: it gives no times of words.
	NoWords bool
	// WireRate is the rate of the samples that its service takes; 0: speech.HearingRate.
	WireRate int
}

// StartTranscriber starts a fake and its transcriber.
type StartTranscriber func(t *testing.T, s HearingSetup) (speech.StreamTranscriber, *HearingScript)

// RunTranscriber is the conformance suite of transcribers. Those of whole utterances are run as
// streams, with speech.Whole.
func RunTranscriber(t *testing.T, traits HearingTraits, start StartTranscriber) {
	t.Helper()
	s := hearingSuite{traits, start}
	t.Run("Hears", s.hears)
	t.Run("Silence", s.silence)
	t.Run("NothingWritten", s.nothingWritten)
	t.Run("Refusals", s.refusals)
	t.Run("WrongKey", s.wrongKey)
	t.Run("Repeats", s.repeats)
	t.Run("Ends", s.ends)
	t.Run("TooSlow", s.tooSlow)
	t.Run("CallerHangsUp", s.callerHangsUp)
	t.Run("NobodyThere", s.nobodyThere)
	t.Run("FollowsNoRedirect", s.followsNoRedirect)
	t.Run("GivenUp", s.givenUp)
	if traits.Streams {
		t.Run("Partials", s.partials)
		t.Run("OpenedAhead", s.openedAhead)
	}
}

type hearingSuite struct {
	traits HearingTraits
	start  StartTranscriber
}

func (s hearingSuite) with(t *testing.T, replies ...Heard) (speech.StreamTranscriber, *HearingScript) {
	t.Helper()
	return s.start(t, HearingSetup{APIKey: Key, Timeouts: patient, Replies: replies})
}

var options = speech.Options{Language: "de", Hints: []string{"Parlance", "Zürich Nord"}}

// transcribe writes an utterance in uneven pieces.
func transcribe(ctx context.Context, t speech.StreamTranscriber, samples []int16, o speech.StreamOptions) (speech.Transcript, error) {
	stream, err := t.Open(ctx, o)
	if err != nil {
		return speech.Transcript{}, err
	}
	defer stream.Close()
	for n := 1; len(samples) > 0; n = 3*n + 1 {
		n = min(n, len(samples))
		piece := append([]int16(nil), samples[:n]...)
		if err := stream.Write(piece); err != nil {
			return speech.Transcript{}, err
		}
		clear(piece) // the slice is the caller's
		samples = samples[n:]
	}
	return stream.Finish(ctx)
}

func (s hearingSuite) hears(t *testing.T) {
	t.Parallel()
	words := []speech.Word{{Text: "Guten", StartMS: 120, EndMS: 480}, {Text: "Tag.", StartMS: 500, EndMS: 960}}
	reply := Heard{Text: "Guten Tag.", Words: words, Language: "de", NoSpeech: 0.125}
	tr, script := s.with(t, reply)
	samples := Tone(speech.HearingRate)
	got, err := transcribe(t.Context(), tr, samples, speech.StreamOptions{Options: options})
	if err != nil {
		t.Fatal(err)
	}
	want := speech.Transcript{Text: reply.Text, Language: "de", Words: words, Provider: tr.Name()}
	if s.traits.NoWords {
		want.Words = nil
	}
	if s.traits.NoSpeech {
		want.NoSpeech = reply.NoSpeech
	}
	if got.Language == "" {
		want.Language = "" // services that were told the language need not repeat it
	}
	same(t, "transcript", got, want)
	asked := script.Requests()[0]
	s.sameSamples(t, asked, samples)
	if asked.Language != "de" || asked.Model == "" {
		t.Errorf("language %q, model %q", asked.Language, asked.Model)
	}
	if hints := strings.Join(asked.Hints, "|"); !strings.Contains(hints, "Parlance") || !strings.Contains(hints, "Zürich Nord") {
		t.Errorf("hints %q", hints)
	}
}

// sameSamples checks what the service received. Of other rates only the length is checked.
func (s hearingSuite) sameSamples(t *testing.T, got HeardRequest, want []int16) {
	t.Helper()
	rate := s.traits.WireRate
	if rate == 0 || rate == speech.HearingRate {
		rate = speech.HearingRate
		same(t, "samples", got.Samples, want)
	}
	if n := len(want) * rate / speech.HearingRate; got.Rate != rate || len(got.Samples) != n {
		t.Errorf("%d samples at %d Hz, want %d at %d Hz", len(got.Samples), got.Rate, n, rate)
	}
}

func (s hearingSuite) silence(t *testing.T) {
	t.Parallel()
	tr, _ := s.with(t, Heard{Text: " \n"})
	got, err := transcribe(t.Context(), tr, make([]int16, speech.HearingRate), speech.StreamOptions{})
	if err != nil || got.Text != "" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

func (s hearingSuite) nothingWritten(t *testing.T) {
	t.Parallel()
	tr, _ := s.with(t, Heard{Text: "something"})
	got, err := transcribe(t.Context(), tr, nil, speech.StreamOptions{})
	same(t, "transcript", got, speech.Transcript{Provider: tr.Name()})
	if err != nil {
		t.Error(err)
	}
}

func (s hearingSuite) refusals(t *testing.T) {
	t.Parallel()
	for _, row := range refusalRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			tr, _ := s.with(t, Heard{Refusal: row.refusal}, Heard{Refusal: row.refusal})
			_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
			if f := failed(t, err, row.reason, tr.Name()+" "+row.words); f.RetryAfter != row.after {
				t.Errorf("retry after %s", f.RetryAfter)
			}
		})
	}
}

func (s hearingSuite) wrongKey(t *testing.T) {
	t.Parallel()
	tr, script := s.start(t, HearingSetup{APIKey: wrongKey, Timeouts: patient})
	_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	failed(t, err, fault.UpstreamFailed, tr.Name()+" (status 401) refused the API key")
	if n := len(script.Requests()); n != 0 {
		t.Errorf("%d utterances got in", n)
	}
}

// repeats: once more after a failure that may pass, unless another transcriber can be asked or the
// service limits its rate.
func (s hearingSuite) repeats(t *testing.T) {
	t.Parallel()
	overloaded := Heard{Refusal: Refusal{Status: http.StatusServiceUnavailable}}
	limited := Heard{Refusal: Refusal{Status: http.StatusTooManyRequests, RetryAfter: "17"}}
	tr, _ := s.with(t, overloaded, Heard{Text: "here"})
	got, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	if err != nil || got.Text != "here" {
		t.Errorf("got %q, %v", got.Text, err)
	}
	tr, _ = s.with(t, overloaded, Heard{Text: "here"})
	_, err = transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{Options: speech.Options{Standby: true}})
	failed(t, err, fault.ServiceUnavailable, "503")
	tr, _ = s.with(t, limited, Heard{Text: "here"})
	_, err = transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	failed(t, err, fault.ServiceUnavailable, "429")
}

// ends: an answer that does not end well is an error.
func (s hearingSuite) ends(t *testing.T) {
	t.Parallel()
	for name, end := range badEnds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := Heard{Text: "half a", End: end}
			tr, _ := s.with(t, reply, reply)
			_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
			failed(t, err, fault.UpstreamFailed, tr.Name())
		})
	}
}

func (s hearingSuite) tooSlow(t *testing.T) {
	t.Parallel()
	timeouts := patient
	timeouts.Transcript = waitShort
	tr, _ := s.start(t, HearingSetup{APIKey: Key, Timeouts: timeouts, Replies: []Heard{{End: EndSilent}, {Text: "late"}}})
	_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	failed(t, err, fault.UpstreamFailed, tr.Name()+" did not return a transcript in time")
}

func (s hearingSuite) callerHangsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	gate := make(chan struct{})
	tr, _ := s.with(t, Heard{Gate: gate, End: EndSilent})
	ended := make(chan error, 1)
	go func() {
		_, err := transcribe(ctx, tr, Tone(4000), speech.StreamOptions{})
		ended <- err
	}()
	gate <- struct{}{} // the service has been asked
	cancel()
	hungUp(t, <-ended)
}

func (s hearingSuite) nobodyThere(t *testing.T) {
	t.Parallel()
	tr, _ := s.start(t, HearingSetup{APIKey: Key, BaseURL: closedURL(), Timeouts: patient})
	_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	failed(t, err, fault.UpstreamFailed, tr.Name()+" could not be reached")
}

// closedURL is where nobody listens any more.
func closedURL() string {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL + "/v1"
}

// followsNoRedirect: the key goes to the configured host only.
func (s hearingSuite) followsNoRedirect(t *testing.T) {
	t.Parallel()
	tr, _ := s.start(t, HearingSetup{APIKey: Key, BaseURL: redirector(t), Timeouts: patient})
	_, err := transcribe(t.Context(), tr, Tone(4000), speech.StreamOptions{})
	failed(t, err, fault.UpstreamFailed, "(status 307)")
}

// redirector is a server that sends every request to another host, which fails the test.
func redirector(t *testing.T) string {
	t.Helper()
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(thief.Close)
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// givenUp: a stream that is closed and not finished is no error, however often it is closed.
func (s hearingSuite) givenUp(t *testing.T) {
	t.Parallel()
	tr, _ := s.with(t, Heard{Text: "nobody asks"})
	stream, err := tr.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Write(Tone(4000)); err != nil {
		t.Error(err)
	}
	stream.Close()
	stream.Close()
}

// partials: they come while the utterance is spoken, and not after its end.
func (s hearingSuite) partials(t *testing.T) {
	t.Parallel()
	want := []speech.Partial{
		{Text: "I would", HeardMS: 250},
		{Text: "I would like", HeardMS: 500, Final: true},
		{Text: "I would like to go", HeardMS: 750},
		{Text: "I would like to leave.", HeardMS: 1000, Final: true, EndOfSpeech: true},
	}
	if s.traits.AppendOnly {
		want = []speech.Partial{{Text: "I", HeardMS: 250}, {Text: "I would like", HeardMS: 500}, {Text: "I would like to leave.", HeardMS: 750}}
	}
	final := want[len(want)-1].Text
	sent := slices.Clone(want)
	if s.traits.WireRate != 0 {
		const resamplerDelayMS = 50 // at most
		for i := range sent {
			sent[i].HeardMS -= resamplerDelayMS
		}
	}
	tr, _ := s.with(t, Heard{Text: final, Partials: sent})
	partials := make(chan speech.Partial, len(want)+1)
	stream, err := tr.Open(t.Context(), speech.StreamOptions{PartialFunc: func(p speech.Partial) { partials <- p }})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for _, partial := range want {
		if err := stream.Write(Tone(speech.HearingRate / 4)); err != nil {
			t.Fatal(err)
		}
		same(t, "partial", <-partials, partial)
	}
	got, err := stream.Finish(t.Context())
	if err != nil || got.Text != final {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

// openedAhead: what is written before the connection is there arrives.
func (s hearingSuite) openedAhead(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	tr, script := s.with(t, Heard{Text: "Hello.", Gate: gate})
	stream, err := tr.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	const samplesAtOnce = 1000
	samples := Tone(3 * samplesAtOnce)
	for piece := range slices.Chunk(samples, samplesAtOnce) {
		if err := stream.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	gate <- struct{}{}
	got, err := stream.Finish(t.Context())
	if err != nil || got.Text != "Hello." {
		t.Errorf("got %q, %v", got.Text, err)
	}
	s.sameSamples(t, script.Requests()[0], samples)
}
