package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/workspaces"
)

// SpeechPart is one service that hears or speaks for the installation.
type SpeechPart struct {
	// Setting begins the names of its settings: PARLANCE_STT, PARLANCE_TTS_FALLBACK …, or is
	// PARLANCE_TTS_OFFLINE.
	Setting string
	// Name is provider, model and server for people.
	Name string
	// One of Transcriber, Synthesizer and Err is set. Err says why espeak-ng cannot speak here.
	Transcriber speech.StreamTranscriber
	Synthesizer speech.Synthesizer
	Err         error
}

// InspectSpeech makes the installation's services one by one, without fail-over, in the order in
// which they are asked. It needs no database and calls nobody. The caller must call done.
func InspectSpeech(ctx context.Context, config Config) (parts []SpeechPart, done func() error, err error) {
	guard, err := config.operatorGuard()
	if err != nil {
		return nil, nil, err
	}
	stacks, err := newSpeechStacks(config, guard)
	if err != nil {
		return nil, nil, err
	}
	keep := func(func()) {} // nothing has settings of its own
	for i, one := range stacks.transcribers {
		one.Name = cmp.Or(one.Name, transcriberModels[one.Kind])
		made, err := stacks.transcriber(one)
		if err != nil {
			return nil, nil, errors.Join(err, stacks.close())
		}
		parts = append(parts, SpeechPart{Setting: settingOf("PARLANCE_STT", i), Name: one.describeAt(), Transcriber: made})
	}
	for i, one := range stacks.synthesizers {
		if one.Kind == providerOffline {
			continue
		}
		one.Name = cmp.Or(one.Name, synthesizerModels[one.Kind])
		made, err := stacks.synthesizer(ctx, one, voiceSettings{}, "", keep)
		if err != nil {
			return nil, nil, errors.Join(err, stacks.close())
		}
		parts = append(parts, SpeechPart{Setting: settingOf("PARLANCE_TTS", i), Name: one.describeAt(), Synthesizer: made})
	}
	if !stacks.offline.off() {
		part := SpeechPart{Setting: "PARLANCE_TTS_OFFLINE", Name: providerOffline}
		if found, err := stacks.offline.find(ctx); err != nil {
			part.Err = err
		} else {
			part.Synthesizer = found
		}
		parts = append(parts, part)
	}
	return parts, stacks.close, nil
}

func settingOf(prefix string, i int) string {
	if i > 0 {
		return prefix + "_FALLBACK"
	}
	return prefix
}

// describeAt is describe with the server.
func (o speechService) describeAt() string {
	if o.Kind == providerOffline {
		return o.Kind
	}
	return fmt.Sprintf("%s at %s", o.describe(), cmp.Or(o.BaseURL, speechBases[o.Kind]))
}

// describe says to people what hears and what speaks for agents that name nothing.
func (s *speechStacks) describe() (hears, speaks string) {
	hears = "nothing: voice sessions take text"
	var names []string
	for _, one := range s.transcribers {
		one.Name = cmp.Or(one.Name, transcriberModels[one.Kind])
		names = append(names, one.describeAt())
	}
	if len(names) > 0 {
		hears = strings.Join(names, ", then ")
	}
	names, speaks = nil, "nothing: voice sessions answer with text"
	for _, one := range s.synthesizers {
		one.Name = cmp.Or(one.Name, synthesizerModels[one.Kind])
		names = append(names, one.describeAt())
	}
	if s.offline.isInstalled() && (len(names) == 0 || names[len(names)-1] != providerOffline) {
		names = append(names, providerOffline)
	}
	if len(names) > 0 {
		speaks = strings.Join(names, ", then ")
	}
	return hears, speaks
}

// credentialTester tries credentials of all kinds that are used. It implements
// workspaces.CredentialTester.
type credentialTester struct {
	models   *models
	speech   *speechStacks
	carriers *carriers
}

// TestCredential makes one small call. A refusal by the provider is a result and not an error.
func (t credentialTester) TestCredential(ctx context.Context, c workspaces.Credential, key seal.Secret) (workspaces.CredentialTest, error) {
	if c.Kind == workspaces.CredentialModel {
		return t.models.TestCredential(ctx, c, key)
	}
	if c.Kind == workspaces.CredentialTelephony {
		return t.carriers.TestCredential(ctx, c, key)
	}
	return t.speech.testCredential(ctx, c, key)
}

// testCredential has a transcriber hear one sentence, or a synthesizer speak it.
func (s *speechStacks) testCredential(ctx context.Context, c workspaces.Credential, key seal.Secret) (workspaces.CredentialTest, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialTestTimeout)
	defer cancel()
	of := s.ownService(workspaces.Opened{Credential: c, APIKey: key})
	try, models := s.tryTranscriber, transcriberModels
	if c.Kind == workspaces.CredentialTTS {
		try, models = s.trySynthesizer, synthesizerModels
	}
	of.Name = cmp.Or(of.Name, models[of.Kind])
	began := s.now()
	err := withCredential(c.ID, try(ctx, of))
	tried := workspaces.CredentialTest{OK: err == nil, Model: of.Name, Took: s.now().Sub(began)}
	decided, isFault := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		tried.Detail = fmt.Sprintf("%s answered with the model %s.", c.Provider, of.Name)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		tried.Detail = c.Provider + " did not answer in time."
	case ctx.Err() != nil:
		return workspaces.CredentialTest{}, ctx.Err()
	case isFault:
		tried.Detail = decided.Message
	default:
		tried.Detail = fmt.Sprintf("%s answered, but %v.", c.Provider, err)
	}
	return tried, nil
}

// tryTranscriber has it hear a sentence of espeak-ng's, or silence where that is not installed. It
// is asked although it may have failed before: that is what a test is for.
func (s *speechStacks) tryTranscriber(ctx context.Context, of speechService) error {
	made, err := newTranscriber(of)
	if err != nil {
		return err
	}
	var sentence speech.Spoken
	if offline, err := s.offline.synthesizer(ctx, ""); err == nil {
		if sentence, err = speech.ProbeSynthesizer(ctx, offline, speech.Speech{Language: "en"}, s.now); err != nil {
			return err
		}
	}
	_, _, err = speech.ProbeTranscriber(ctx, made, sentence.Samples, s.now)
	return err
}

func (s *speechStacks) trySynthesizer(ctx context.Context, of speechService) error {
	made, done, err := newSynthesizer(of, voiceSettings{})
	if err != nil {
		return err
	}
	defer done()
	_, err = speech.ProbeSynthesizer(ctx, made, speech.Speech{}, s.now)
	return err
}
