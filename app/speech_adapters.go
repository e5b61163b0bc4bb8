package app

import (
	"context"
	"fmt"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/deepgram"
	"parlance.dev/parlance/provider/speech/elevenlabs"
	openaispeech "parlance.dev/parlance/provider/speech/openai"
	"parlance.dev/parlance/provider/speech/realtime"
	"parlance.dev/parlance/workspaces"
)

// maxMadeSpeech bounds the adapters that are kept of each direction: agents may name any model.
// Further ones belong to their session.
const maxMadeSpeech = 1000

// speechBases are the providers' own servers.
var speechBases = map[string]string{
	providerOpenAI: openaispeech.DefaultBaseURL, providerRealtime: realtime.DefaultBaseURL, providerDeepgram: deepgram.DefaultBaseURL,
	providerElevenLabs: elevenlabs.DefaultBaseURL,
}

// transcriberModels and synthesizerModels are those of services that name none.
var (
	transcriberModels = map[string]string{
		providerOpenAI: openaispeech.DefaultTranscriber, providerRealtime: realtime.DefaultModel, providerDeepgram: deepgram.DefaultModel,
	}
	synthesizerModels = map[string]string{
		providerOpenAI: openaispeech.DefaultSynthesizer, providerElevenLabs: elevenlabs.DefaultModel,
	}
	defaultVoices = map[string]string{providerOpenAI: openaispeech.DefaultVoice, providerElevenLabs: elevenlabs.DefaultVoice}
)

// voiceSettings are those of an agent that only ElevenLabs has; nil fields are the voice's own.
type voiceSettings struct{ stability, similarity *float64 }

// within leaves out what is not from 0 to 1: agents store any number.
func within(share *float64) *float64 {
	if share == nil || !(*share >= 0 && *share <= 1) {
		return nil
	}
	return share
}

// ownService is the service of a workspace's credential.
func (s *speechStacks) ownService(own workspaces.Opened) speechService {
	service := speechService{
		Speech:     Speech{Kind: own.Provider, Provider: Provider{BaseURL: own.BaseURL, APIKey: own.APIKey, Name: own.DefaultModel}},
		credential: own.ID, client: s.guardedSockets,
	}
	if own.Provider == providerOpenAI {
		service.client = s.guarded
	}
	return service
}

// describe names provider and model.
func (o speechService) describe() string {
	if o.Name == "" {
		return o.Kind
	}
	return o.Kind + "/" + o.Name
}

// streams reports whether a transcriber gives words while the user speaks. The older models of
// openai-realtime do so only after the end of the utterance, and of a model that is not known it is
// not assumed.
func (o speechService) streams() bool {
	return o.Kind == providerDeepgram ||
		o.Kind == providerRealtime && strings.HasPrefix(o.Name, "gpt-live")
}

// hears is the language that a transcriber is told, of a session in that language. Whisper and what
// is like it are told none: they detect it, and say which it was, so that the session can follow
// the user into another.
func (o speechService) hears(language string) string {
	if o.Kind == providerOpenAI && !strings.HasPrefix(o.Name, "gpt-") {
		return ""
	}
	return language
}

// transcriber returns the adapter of a service.
func (s *speechStacks) transcriber(of speechService) (speech.StreamTranscriber, error) {
	if of.credential != "" {
		made, err := newTranscriber(of)
		if err != nil {
			return nil, err
		}
		made = speech.GuardTranscriber(made, s.guard("stt", of))
		return ownTranscriber{StreamTranscriber: made, credential: of.credential}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := speechKey{of.Kind, of.BaseURL, of.Name}
	if made, ok := s.hearing[key]; ok {
		return made, nil
	}
	made, err := newTranscriber(of)
	if err != nil {
		return nil, err
	}
	made = speech.GuardTranscriber(made, s.guard("stt", of))
	if len(s.hearing) < maxMadeSpeech {
		s.hearing[key] = made
	}
	return made, nil
}

// newTranscriber makes an adapter.
func newTranscriber(of speechService) (made speech.StreamTranscriber, err error) {
	switch of.Kind {
	case providerDeepgram:
		made, err = deepgram.New(deepgram.Config{BaseURL: of.BaseURL, APIKey: of.APIKey.Reveal(), Model: of.Name, Client: of.client})
	case providerRealtime:
		made, err = realtime.New(realtime.Config{BaseURL: of.BaseURL, APIKey: of.APIKey.Reveal(), Model: of.Name, Client: of.client})
	default:
		var whole *openaispeech.Transcriber
		whole, err = openaispeech.NewTranscriber(openaispeech.Config{
			BaseURL: of.BaseURL, APIKey: of.APIKey.Reveal(), Model: of.Name, Client: of.client,
		})
		made = speech.Whole(whole)
	}
	if err != nil {
		return nil, of.broken(err)
	}
	return made, nil
}

// synthesizer returns the adapter of a service. voice is that of the first one, to which that of
// espeak-ng should be near. keep gets what has to be closed with the session.
func (s *speechStacks) synthesizer(
	ctx context.Context, of speechService, settings voiceSettings, voice string, keep func(done func()),
) (speech.Synthesizer, error) {
	if of.Kind == providerOffline {
		made, err := s.offline.synthesizer(ctx, voice)
		if err != nil {
			return nil, err
		}
		return speech.GuardSynthesizer(made, s.guard("tts", of)), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := speechKey{of.Kind, of.BaseURL, of.Name}
	shared := of.credential == "" && settings == voiceSettings{}
	if made, ok := s.speaking[key]; ok && shared {
		return made, nil
	}
	made, done, err := newSynthesizer(of, settings)
	if err != nil {
		return nil, err
	}
	made = speech.GuardSynthesizer(made, s.guard("tts", of))
	if shared && len(s.speaking) < maxMadeSpeech {
		s.speaking[key], s.closes = made, append(s.closes, done)
		return made, nil
	}
	keep(done)
	if of.credential != "" {
		made = ownSynthesizer{Synthesizer: made, credential: of.credential}
	}
	return made, nil
}

// newSynthesizer makes an adapter, and what closes it.
func newSynthesizer(of speechService, settings voiceSettings) (made speech.Synthesizer, done func(), err error) {
	done = func() {}
	if of.Kind == providerElevenLabs {
		var spare *elevenlabs.Synthesizer
		spare, err = elevenlabs.New(elevenlabs.Config{
			BaseURL: of.BaseURL, APIKey: of.APIKey.Reveal(), Model: of.Name, Voice: of.Voice, Client: of.client,
			Stability: settings.stability, Similarity: settings.similarity,
		})
		made, done = spare, func() { spare.Close() }
	} else {
		made, err = openaispeech.NewSynthesizer(openaispeech.Config{
			BaseURL: of.BaseURL, APIKey: of.APIKey.Reveal(), Model: of.Name, Voice: of.Voice, Client: of.client,
		})
	}
	if err != nil {
		return nil, nil, of.broken(err)
	}
	return made, done, nil
}

// guard has the circuit of a direction, server, credential and model.
func (s *speechStacks) guard(direction string, of speechService) speech.Guard {
	return speech.Guard{
		Breaker: s.breaker, Key: strings.Join([]string{direction, of.Kind, of.BaseURL, string(of.credential), of.Name}, " "),
		Now: s.now, Metrics: s.metrics,
	}
}

// broken is the error of a service whose settings make no adapter, such as its URL.
func (o speechService) broken(err error) error {
	if o.credential != "" {
		return withCredential(o.credential, fault.Wrap(err, fault.UpstreamFailed, "%s cannot be called.", o.Kind))
	}
	return fmt.Errorf("speech service %s: %w", o.Kind, err)
}

// ownTranscriber adds to each failure whose key was used, without the key.
type ownTranscriber struct {
	speech.StreamTranscriber

	credential workspaces.CredentialID
}

// Open implements speech.StreamTranscriber.
func (o ownTranscriber) Open(ctx context.Context, options speech.StreamOptions) (speech.Stream, error) {
	stream, err := o.StreamTranscriber.Open(ctx, options)
	if err != nil {
		return nil, withCredential(o.credential, err)
	}
	return ownStream{Stream: stream, credential: o.credential}, nil
}

type ownStream struct {
	speech.Stream

	credential workspaces.CredentialID
}

// Write implements speech.Stream.
func (o ownStream) Write(samples []int16) error {
	return withCredential(o.credential, o.Stream.Write(samples))
}

// Finish implements speech.Stream.
func (o ownStream) Finish(ctx context.Context) (speech.Transcript, error) {
	heard, err := o.Stream.Finish(ctx)
	return heard, withCredential(o.credential, err)
}

// ownSynthesizer is ownTranscriber for the other direction.
type ownSynthesizer struct {
	speech.Synthesizer

	credential workspaces.CredentialID
}

// Speak implements speech.Synthesizer.
func (o ownSynthesizer) Speak(ctx context.Context, asked speech.Speech, emit func(speech.Piece) error) error {
	return withCredential(o.credential, o.Synthesizer.Speak(ctx, asked, emit))
}
