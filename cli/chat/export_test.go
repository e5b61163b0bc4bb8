package chat

import (
	"context"
	"io"
	"time"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/sound"
)

// AtTerminal chats as if a person typed the lines of in.
func AtTerminal(ctx context.Context, where client.Installation, in io.Reader, out, errs io.Writer) error {
	http, err := where.Client()
	if err != nil {
		return err
	}
	defer http.CloseIdleConnections()
	talk := &chat{
		installation: where, in: in, out: out, err: errs, terminal: true, options: chatOptions{reconnectFor: reconnectFor},
	}
	if err := talk.connect(http); err != nil {
		return err
	}
	return talk.run(ctx)
}

// VoiceTest is a spoken conversation by another clock.
type VoiceTest struct {
	// Voice is a file; with a Source it is a microphone.
	Voice    string
	Source   sound.Source
	VoiceOut string
	JSON     bool
	// Terminal says that a person types In.
	Terminal bool
	In       io.Reader
	Out, Err io.Writer
	Ticks    <-chan time.Time
	Now      func() time.Time
}

// TalkBy speaks with an agent by the clock of a test.
func TalkBy(ctx context.Context, where client.Installation, test VoiceTest) error {
	http, err := where.Client()
	if err != nil {
		return err
	}
	defer http.CloseIdleConnections()
	talk := &chat{
		installation: where, in: test.In, out: test.Out, err: test.Err, terminal: test.Terminal,
		options: chatOptions{voice: test.Voice, voiceOut: test.VoiceOut, json: test.JSON},
	}
	if err := talk.connect(http); err != nil {
		return err
	}
	parts := voiceParts{source: test.Source, sink: sound.Nowhere(), says: "a test"}
	if test.Source != nil {
		talk.options.voice = microphone
	} else if parts, err = talk.openVoice(ctx); err != nil {
		return err
	}
	parts.ticks, parts.now = test.Ticks, test.Now
	return talk.talk(ctx, parts)
}
