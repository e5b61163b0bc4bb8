package app

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/speech/espeak"
)

// offlineSpeech finds espeak-ng. It looks when a session needs it, and again while it is missing,
// because an operator may install it while a server runs.
type offlineSpeech struct {
	config Config
	// log may be nil.
	log *slog.Logger

	mu     sync.Mutex
	box    *sandbox.Sandbox
	espeak *espeak.Synthesizer
}

// off reports whether the operator wants no espeak-ng.
func (o *offlineSpeech) off() bool { return o.config.TTSOffline == offlineOff }

// synthesizer returns espeak-ng with a voice near to another service's.
// Errors: Upstream upstream-failed when it is switched off or cannot be run here.
func (o *offlineSpeech) synthesizer(ctx context.Context, near string) (*espeak.Synthesizer, error) {
	if o.off() {
		return nil, fault.New(fault.UpstreamFailed, "espeak-ng is switched off in this installation (PARLANCE_TTS_OFFLINE).")
	}
	found, err := o.find(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.UpstreamFailed, "espeak-ng cannot be run on this server. Is the package espeak-ng installed?")
	}
	return found.WithVariant(variantNear(near)), nil
}

func (o *offlineSpeech) find(ctx context.Context) (*espeak.Synthesizer, error) {
	if err := lookForEspeak(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), openWithin) // other callers wait for the result
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.espeak != nil {
		return o.espeak, nil
	}
	if o.box == nil {
		box, err := sandbox.New(ctx, sandbox.Options{Dir: o.config.ScratchDir})
		if err != nil {
			return nil, err
		}
		if o.box = box; o.log != nil {
			o.log.InfoContext(ctx, "espeak-ng speaks in a sandbox", telemetry.KeyReason, box.Describe())
		}
	}
	var err error
	o.espeak, err = espeak.New(ctx, espeak.Config{Sandbox: o.box, Name: providerOffline, Voice: o.configuredVoice()})
	if err != nil && o.log != nil {
		o.log.WarnContext(ctx, "espeak-ng cannot speak", telemetry.KeyError, err)
	}
	return o.espeak, err
}

func lookForEspeak() error {
	for _, program := range espeak.Programs() {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("look for %s: %w", program, err)
		}
	}
	return nil
}

// isInstalled reports whether espeak-ng would speak.
func (o *offlineSpeech) isInstalled() bool { return !o.off() && lookForEspeak() == nil }

// configuredVoice is that of the service that names espeak-ng.
func (o *offlineSpeech) configuredVoice() string {
	for _, one := range []Speech{o.config.TTS, o.config.TTSFallback} {
		if one.Kind == providerOffline {
			return one.Voice
		}
	}
	return ""
}

func (o *offlineSpeech) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.box == nil {
		return nil
	}
	err := o.box.Close()
	o.box, o.espeak = nil, nil
	return err
}

// offlineVoice is a voice of espeak-ng ("en-us+f3") for a session's language: empty when the voice
// speaks another one.
func offlineVoice(voice, language string) string {
	id, _, _ := strings.Cut(voice, "+")
	if language == "" || langtag.Base(id) == langtag.Base(language) {
		return voice
	}
	return ""
}

// femaleVariant is a variant of espeak-ng that sounds like a woman. Its voices sound like men.
const femaleVariant = "f3"

// femaleVoices are voices of OpenAI and ElevenLabs that sound like women to us; the vendors do not
// say. kokoroFemale is how Kokoro names its: af_heart is an American woman.
var (
	femaleVoices = []string{"alloy", "coral", "marin", "nova", "sage", "shimmer", "rachel", "21m00Tcm4TlvDq8ikWAM"}
	kokoroFemale = regexp.MustCompile(`^[a-z]f_`)
)

// variantNear is the variant of espeak-ng that sounds most like a voice of another service.
func variantNear(voice string) string {
	if slices.Contains(femaleVoices, voice) || kokoroFemale.MatchString(voice) {
		return femaleVariant
	}
	return ""
}
