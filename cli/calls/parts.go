package calls

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/platform/audio"
)

// parts are what the phone hears and speaks with.
type parts struct {
	microphone sound.Source // nil: none
	// sinks are the loudspeaker and the recording; each has a player.
	sinks   []sound.Sink
	players []*sound.Player
	// recording is one of the sinks; nil: there is none.
	recording sound.Sink
	// up and down change the rate between the line and the parts.
	up, down *audio.Resampler
	// call counts the calls: the sound of each is an item of the players.
	call int
}

// openSound opens the recording and, at a terminal, the loudspeaker. Without words it opens the
// microphone too. A machine without them is no error.
func (h *handset) openSound(ctx context.Context) error {
	var err error
	if h.o.record != "" {
		if h.parts.recording, err = sound.CreateWAV(h.o.record); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		h.parts.add(h.parts.recording)
	}
	if h.parts.down, err = audio.NewResampler(sound.RateHz, onLine.RateHz); err != nil {
		return err
	}
	if h.parts.up, err = audio.NewResampler(onLine.RateHz, sound.RateHz); err != nil {
		return err
	}
	if !h.interactive || h.o.busy || h.o.reject {
		return nil
	}
	loudspeaker, by, err := sound.Loudspeaker(ctx, exec.LookPath)
	if err != nil {
		h.note("sound", "nothing is played: "+err.Error()+"; --record writes it to a file")
	} else {
		h.parts.add(loudspeaker)
		h.note("sound", "loudspeaker by "+by)
	}
	if len(h.steps) > 0 || h.o.machine {
		return nil
	}
	if h.parts.microphone, by, err = sound.Microphone(ctx, exec.LookPath); err != nil {
		h.parts.microphone = nil
		h.note("sound", "you cannot speak: "+err.Error()+"; --say and --play do, and digits are pressed")
		return nil //nolint:nilerr // the call goes on without a microphone
	}
	h.note("sound", "microphone by "+by)
	return nil
}

func (p *parts) add(sink sound.Sink) {
	p.sinks = append(p.sinks, sink)
	p.players = append(p.players, sound.NewPlayer(sink, func(string) {}))
}

// close ends the programs and completes the recording.
func (p *parts) close() error {
	var errs []error
	if p.microphone != nil {
		errs = append(errs, p.microphone.Close())
	}
	if p.recording != nil {
		errs = append(errs, p.recording.Err())
	}
	for _, sink := range p.sinks {
		errs = append(errs, sink.Close())
	}
	return errors.Join(errs...)
}

// play plays sound of the line.
func (p *parts) play(samples []int16) {
	if len(p.players) == 0 {
		return
	}
	louder := p.up.AppendResample(nil, samples)
	for _, player := range p.players {
		player.Queue(fmt.Sprint(p.call), louder)
	}
}

// advance plays what is due.
func (p *parts) advance(due int) {
	for _, player := range p.players {
		player.Advance(due)
	}
}

// idle reports whether all was played.
func (p *parts) idle() bool {
	for i, player := range p.players {
		if !player.Idle() && p.sinks[i].Err() == nil {
			return false
		}
	}
	return true
}

// listen is what the microphone has heard since the last call, as the line has it.
func (p *parts) listen() ([]byte, error) {
	samples, err := p.microphone.Read(0)
	if err != nil {
		return nil, err
	}
	return onLine.AppendEncode(nil, p.down.AppendResample(nil, samples)), nil
}
