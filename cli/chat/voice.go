package chat

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/cli/term"
)

const (
	// microphone is the value of --voice without one.
	microphone = "microphone"
	// bareInput is the value of --voice for bare samples on the input.
	bareInput = "-"
	// tickEvery is how often sound is sent and played.
	tickEvery = 20 * time.Millisecond
)

// checkVoice refuses flags that do not go together.
func checkVoice(options chatOptions, args []string) error {
	switch {
	case options.voice == "" && options.voiceOut != "":
		return command.Usagef("--voice-out is for conversations with --voice")
	case options.voice != "" && options.session != "":
		return command.Usagef("--voice begins a session of its own: leave out --session")
	case options.voice == microphone && len(args) == 1:
		return command.Usagef("write --voice=%s, with an equals sign", args[0])
	}
	return nil
}

// voiceParts are what a spoken conversation works with.
type voiceParts struct {
	source sound.Source
	sink   sound.Sink
	// says names both, for a person.
	says string
	// ticks come every tickEvery, with their time; now is the time between them.
	ticks <-chan time.Time
	now   func() time.Time
}

// openVoice opens the sound of the conversation: files first, so that a wrong one is no session.
func (c *chat) openVoice(ctx context.Context) (voiceParts, error) {
	p := voiceParts{now: time.Now}
	said := ""
	var err error
	switch c.options.voice {
	case microphone:
		var by string
		if p.source, by, err = sound.Microphone(ctx, exec.LookPath); err != nil {
			return p, fmt.Errorf("there is no microphone: %w. `--voice=FILE.wav` speaks from a file. On Debian and Ubuntu, "+
				"`sudo apt-get install alsa-utils` installs arecord and aplay", err)
		}
		said = "microphone by " + by
	case bareInput:
		p.source, said = sound.Raw(c.in), "samples from the input"
	default:
		if p.source, err = sound.OpenWAV(c.options.voice); err != nil {
			return p, fmt.Errorf("--voice: %w", err)
		}
		said = term.Clean(c.options.voice)
	}
	if c.options.voiceOut != "" {
		if p.sink, err = sound.CreateWAV(c.options.voiceOut); err != nil {
			return p, errors.Join(fmt.Errorf("--voice-out: %w", err), p.source.Close())
		}
		p.says = said + ", answers to " + term.Clean(c.options.voiceOut)
		return p, nil
	}
	by := ""
	if p.sink, by, err = sound.Loudspeaker(ctx, exec.LookPath); err != nil {
		p.sink = sound.Nowhere()
		p.says = fmt.Sprintf("%s, answers are not played: %s (--voice-out=FILE.wav writes them)", said, err)
		return p, nil
	}
	p.says = said + ", loudspeaker by " + by
	return p, nil
}

// close ends the programs and completes the file.
func (p voiceParts) close() error { return errors.Join(p.source.Close(), p.sink.Close()) }

// runVoice opens the sound, and talks.
func (c *chat) runVoice(ctx context.Context) error {
	parts, err := c.openVoice(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	parts.ticks = ticker.C
	return c.talk(ctx, parts)
}

// talk holds a spoken conversation until it or ctx ends.
func (c *chat) talk(ctx context.Context, parts voiceParts) (err error) {
	defer func() { err = errors.Join(err, parts.close()) }()
	c.agent = "agent"
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.end(ctx)
	if c.socketURL == "" {
		return errors.New("the server has given the session no URL to speak on")
	}
	transport, err := c.installation.SocketClient()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	socket, err := dialVoice(ctx, transport, c.socketURL)
	if err != nil {
		return err
	}
	defer socket.close()
	v := newVoiceTalk(c, parts, socket)
	v.printer.note("sound   " + parts.says)
	if c.terminal {
		v.printer.note("Speak, or type a line. /mute and /quit; Ctrl-C ends the session.")
	}
	return v.run(ctx)
}
