package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

// speechStacks chooses what hears and speaks for sessions. Adapters of the installation are made on
// first use; they share the connections and the circuit breaker. A workspace's own credential takes
// precedence; its adapters belong to the session, so that no key stays in memory.
type speechStacks struct {
	// transcribers and synthesizers are the installation's, in the order in which they are asked.
	transcribers, synthesizers []speechService
	// guarded and guardedSockets reach hosts that tenants name.
	guarded, guardedSockets *http.Client
	offline                 *offlineSpeech
	// metrics and log may be nil.
	metrics *speech.Metrics
	log     *slog.Logger
	now     func() time.Time
	breaker *breaker.Breaker
	// credentials are the workspaces' own keys; it may be nil.
	credentials *workspaces.Credentials

	mu       sync.Mutex
	hearing  map[speechKey]speech.StreamTranscriber
	speaking map[speechKey]speech.Synthesizer
	closes   []func()
}

// speechService is a transcriber or synthesizer of the installation or of a workspace.
type speechService struct {
	Speech
	// client reaches the service: with requests (openai) or sockets (the others).
	client *http.Client
	// credential is that of the workspace; empty is the installation.
	credential workspaces.CredentialID
}

// speechKey identifies an adapter of the installation.
type speechKey struct{ kind, baseURL, model string }

// newSpeechStacks makes the clients of the configured services.
func newSpeechStacks(config Config, guard *publicnet.Guard) (*speechStacks, error) {
	s := &speechStacks{
		guarded: guard.Client(publicnet.ClientOptions{}), guardedSockets: speech.SocketClient(guard.Dialer().DialContext, guard.Roots()),
		offline: &offlineSpeech{config: config}, now: time.Now, breaker: speech.Breaker(),
		hearing: map[speechKey]speech.StreamTranscriber{}, speaking: map[speechKey]speech.Synthesizer{},
	}
	for _, each := range []struct {
		into     *[]speechService
		services []Speech
	}{
		{&s.transcribers, []Speech{config.STT, config.STTFallback}},
		{&s.synthesizers, []Speech{config.TTS, config.TTSFallback}},
	} {
		for _, one := range each.services {
			if !one.IsSet() {
				continue
			}
			client, err := operatorSpeechClient(guard, one)
			if err != nil {
				return nil, fmt.Errorf("speech server %s: %w", one.kind(), err)
			}
			one.Kind = one.kind()
			*each.into = append(*each.into, speechService{Speech: one, client: client})
		}
	}
	return s, nil
}

// operatorSpeechClient makes a client that reaches the service's host alone.
func operatorSpeechClient(guard *publicnet.Guard, one Speech) (*http.Client, error) {
	bases := []string{cmp.Or(one.BaseURL, speechBases[one.kind()])}
	switch one.kind() {
	case providerOffline:
		return nil, nil //nolint:nilnil // it has no server
	case providerOpenAI:
		return guard.OperatorClient(bases, publicnet.ClientOptions{MaxIdlePerHost: idleModelConns})
	}
	dial, err := guard.OperatorDial(bases)
	if err != nil {
		return nil, err
	}
	return speech.SocketClient(dial, guard.Roots()), nil
}

// openSpeech makes the choice of stacks, and loads the model of the end of turns. It connects to
// nothing.
func (a *App) openSpeech(guard *publicnet.Guard, component string) (err error) {
	if a.speech, err = newSpeechStacks(a.Config, guard); err != nil {
		return err
	}
	a.speech.observe(a.metrics.Registry, a.log, a.now)
	a.speech.credentials = a.credentials
	a.Stack = a.speech.Choose
	a.Hears, a.Speaks = a.speech.describe()
	return a.openEndModel(component)
}

// observe enables metrics and logs of fail-overs.
func (s *speechStacks) observe(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) {
	s.metrics, s.log, s.now, s.offline.log = speech.NewMetrics(registry), log, now, log
}

// Choose implements voice.StackFunc. The workspace's credentials are read for each session.
func (s *speechStacks) Choose(ctx context.Context, ref workspaces.Ref, v agents.Voice, language string) (voice.Stack, error) {
	var closes []func()
	stack := voice.Stack{Close: func() {
		for _, done := range closes {
			done()
		}
	}}
	keep := func(done func()) { closes = append(closes, sync.OnceFunc(done)) }
	if stack.Deaf = s.hear(ctx, ref, v.Transcriber(), language, &stack); stack.Deaf != nil {
		stack.Transcriber, stack.Streaming, stack.Punctuated = nil, false, false
	}
	if stack.Mute = s.speak(ctx, ref, v.Synthesizer(), language, &stack, keep); stack.Mute != nil {
		stack.Synthesizer = nil
	}
	return stack, errors.Join(stack.Deaf, stack.Mute)
}

// hear chooses the transcribers.
func (s *speechStacks) hear(ctx context.Context, ref workspaces.Ref, asked agents.Transcriber, language string, stack *voice.Stack) error {
	stack.Hints = asked.Keywords
	chosen, err := s.chosen(ctx, ref, workspaces.CredentialSTT, asked.Provider, s.transcribers)
	if err != nil || len(chosen) == 0 {
		return err
	}
	chosen[0].Name = cmp.Or(asked.Model, chosen[0].Name)
	chain := speech.TranscriberChain{Metrics: s.metrics, Log: s.log}
	streaming := 0
	for i, one := range chosen {
		one.Name = cmp.Or(one.Name, transcriberModels[one.Kind])
		made, err := s.transcriber(one)
		if err != nil {
			return err
		}
		chain.Transcribers = append(chain.Transcribers, made)
		if one.streams() {
			streaming++
		}
		if i == 0 {
			stack.TranscriberName = one.describe()
			stack.Language = cmp.Or(asked.Language, one.hears(language))
		}
	}
	stack.Transcriber = chain
	// One that does not stream would leave the session waiting for words after a fail-over.
	stack.Streaming, stack.Punctuated = streaming == len(chosen), streaming > 0
	return nil
}

// speak chooses the synthesizers. keep gets what has to be closed with the session.
func (s *speechStacks) speak(
	ctx context.Context, ref workspaces.Ref, asked agents.Synthesizer, language string, stack *voice.Stack, keep func(done func()),
) error {
	stack.Speech = speech.Speech{
		Voice: asked.Voice, Language: cmp.Or(asked.Language, language), Instructions: asked.Instructions,
	}
	if asked.Speed != nil {
		stack.Speech.Speed = *asked.Speed
	}
	chosen, err := s.chosenSynthesizers(ctx, ref, asked.Provider)
	if err != nil {
		return err
	}
	if len(chosen) > 0 {
		chosen[0].Name = cmp.Or(asked.Model, chosen[0].Name)
	}
	chain := speech.SynthesizerChain{Metrics: s.metrics, Log: s.log}
	first := Speech{}
	for i, one := range chosen {
		one.Name = cmp.Or(one.Name, synthesizerModels[one.Kind])
		settings := voiceSettings{}
		if i == 0 {
			settings = voiceSettings{stability: within(asked.Stability), similarity: within(asked.SimilarityBoost)}
		}
		made, err := s.synthesizer(ctx, one, settings, cmp.Or(asked.Voice, chosen[0].Voice, defaultVoices[chosen[0].Kind]), keep)
		switch {
		case one.Kind == providerOffline && err != nil && asked.Provider != providerOffline:
			continue // the others speak
		case err != nil:
			return err
		}
		if len(chain.Synthesizers) == 0 {
			first, stack.SynthesizerName = one.Speech, one.describe()
		}
		chain.Synthesizers = append(chain.Synthesizers, made)
	}
	if len(chain.Synthesizers) == 0 {
		return nil
	}
	stack.Synthesizer = chain
	if first.Kind == providerOffline {
		stack.Speech.Voice = offlineVoice(cmp.Or(asked.Voice, first.Voice), stack.Speech.Language)
	}
	return nil
}

// chosenSynthesizers are those of an agent's provider, with espeak-ng behind them.
func (s *speechStacks) chosenSynthesizers(ctx context.Context, ref workspaces.Ref, provider string) ([]speechService, error) {
	offline := speechService{Speech: Speech{Kind: providerOffline}}
	installed := s.synthesizers
	isOffline := func(one speechService) bool { return one.Kind == providerOffline }
	if provider == providerOffline && !slices.ContainsFunc(installed, isOffline) {
		return []speechService{offline}, nil
	}
	chosen, err := s.chosen(ctx, ref, workspaces.CredentialTTS, provider, installed)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(chosen, isOffline) && !s.offline.off() {
		chosen = append(chosen, offline)
	}
	return chosen, nil
}

// chosen are the services that are asked for an agent, in order. The first one is that of its
// provider, with the workspace's own credential if there is one. Behind the workspace's own no
// other party is asked, behind the installation's the installation's others. It is empty when there
// is none.
// Errors: Upstream upstream-failed for a provider that nobody has.
func (s *speechStacks) chosen(
	ctx context.Context, ref workspaces.Ref, kind workspaces.CredentialKind, provider string, installed []speechService,
) ([]speechService, error) {
	var own map[string]workspaces.Opened
	if s.credentials != nil {
		var err error
		if own, err = s.credentials.OfKind(ctx, ref, kind); err != nil {
			return nil, fmt.Errorf("finding the workspace's own %s keys: %w", kind, err)
		}
	}
	switch {
	case provider != "":
	case len(installed) > 0:
		provider = installed[0].Kind
	default:
		known := workspaces.Providers(kind)
		at := slices.IndexFunc(known, func(name string) bool { _, has := own[name]; return has })
		if at < 0 {
			return nil, nil
		}
		provider = known[at]
	}
	if opened, has := own[provider]; has {
		return []speechService{s.ownService(opened)}, nil
	}
	at := slices.IndexFunc(installed, func(one speechService) bool { return one.Kind == provider })
	if at < 0 {
		return nil, notConfigured(kind, provider)
	}
	return slices.Concat(installed[at:at+1], installed[:at], installed[at+1:]), nil
}

func notConfigured(kind workspaces.CredentialKind, provider string) error {
	what := map[workspaces.CredentialKind]string{workspaces.CredentialSTT: "transcriber", workspaces.CredentialTTS: "synthesizer"}[kind]
	return fault.New(fault.UpstreamFailed, "The agent's %s %q is not configured in this installation, and the workspace has no "+
		"credential of its own for it.", what, provider)
}

// close closes connections that wait for the next sentence, and the sandbox of espeak-ng.
func (s *speechStacks) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, done := range s.closes {
		done()
	}
	s.closes = nil
	return s.offline.close()
}
