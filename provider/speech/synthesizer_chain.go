package speech

import (
	"context"
	"log/slog"

	"parlance.dev/parlance/provider/internal/apiclient"
)

// SynthesizerChain is a synthesizer that fails over between several: when one fails before it
// emitted anything, the next one is called. After the first piece a sentence stays with its
// synthesizer, because two voices cannot share it. The caller may speak the rest of a broken
// sentence with a new call.
//
// Speech.Voice is for the first synthesizer; the others use their configured voice. All but the
// last get Speech.Standby. When all fail, the error is one fault that names each.
type SynthesizerChain struct {
	// Synthesizers in the order in which they are called, at least one.
	Synthesizers []Synthesizer
	// Metrics counts fail-overs. nil: they are not counted.
	Metrics *Metrics
	// Log gets the reason of each fail-over. nil: it is not logged.
	Log *slog.Logger
}

// Name is that of the first synthesizer.
func (c SynthesizerChain) Name() string { return c.Synthesizers[0].Name() }

// Speak implements Synthesizer.
func (c SynthesizerChain) Speak(ctx context.Context, s Speech, emit func(Piece) error) error {
	begun := false
	var failures []error
	standby := s.Standby
	for i, synthesizer := range c.Synthesizers {
		last := i == len(c.Synthesizers)-1
		s.Standby = standby || !last
		err := synthesizer.Speak(ctx, s, func(p Piece) error {
			begun = true
			return emit(p)
		})
		if err == nil || begun || ctx.Err() != nil {
			return err
		}
		failures = append(failures, err)
		if !last {
			failedOver(ctx, c.Metrics, c.Log, synthesizer.Name(), c.Synthesizers[i+1].Name(), err)
		}
		s.Voice = ""
	}
	return apiclient.AllFailed("No synthesizer spoke:", failures)
}
