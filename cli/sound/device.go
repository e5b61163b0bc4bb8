package sound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/audio"
)

const (
	// lag is how long a sample waits in a loudspeaker's program and the system behind it.
	lag = 100 * time.Millisecond
	// lead is silence that a loudspeaker gets first: ticks of the clock that are late by less do
	// not crackle.
	lead = RateHz * 60 / 1000
	// deviceFrames is how many writes may wait for a loudspeaker.
	deviceFrames = 16
	// endWithin is how long a program may take to end.
	endWithin = 2 * time.Second
	// micPieces is a second of sound that waits for its reader.
	micPieces = 50
)

// program records or plays bare samples at RateHz.
type program struct {
	name      string
	arguments []string
	// system is the only system that the arguments are for; empty is every one.
	system string
}

var recorders = []program{
	{name: "arecord", arguments: []string{"-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1"}},
	{name: "rec", arguments: []string{"-q", "-t", "raw", "-r", "24000", "-e", "signed", "-b", "16", "-c", "1", "-"}},
	{
		name: "ffmpeg", system: "linux",
		arguments: []string{"-nostdin", "-loglevel", "error", "-f", "pulse", "-i", "default", "-ar", "24000", "-ac", "1", "-f", "s16le", "-"},
	},
	{
		name: "ffmpeg", system: "darwin",
		arguments: []string{"-nostdin", "-loglevel", "error", "-f", "avfoundation", "-i", ":0", "-ar", "24000", "-ac", "1", "-f", "s16le", "-"},
	},
	{name: "parec", arguments: []string{"--raw", "--format=s16le", "--rate=24000", "--channels=1", "--latency-msec=20"}},
}

var players = []program{
	{name: "aplay", arguments: []string{"-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1", "--buffer-time=100000", "-"}},
	{name: "play", arguments: []string{"-q", "--buffer", "1024", "-t", "raw", "-r", "24000", "-e", "signed", "-b", "16", "-c", "1", "-"}},
	{name: "paplay", arguments: []string{"--raw", "--format=s16le", "--rate=24000", "--channels=1", "--latency-msec=60"}},
	{
		name:      "ffplay",
		arguments: []string{"-nodisp", "-loglevel", "error", "-fflags", "nobuffer", "-f", "s16le", "-ar", "24000", "-ac", "1", "-i", "-"},
	},
}

// FindFunc finds a program; exec.LookPath is one.
type FindFunc func(name string) (path string, err error)

// choose is the first program of a table that the machine has.
func choose(table []program, find FindFunc) (program, string, error) {
	var names []string
	for _, one := range table {
		if one.system != "" && one.system != runtime.GOOS {
			continue
		}
		if path, err := find(one.name); err == nil {
			return one, path, nil
		}
		names = append(names, one.name)
	}
	return program{}, "", fmt.Errorf("this machine has none of %s", strings.Join(names, ", "))
}

// Microphone records by the first program that is found of arecord, rec (sox), ffmpeg and parec,
// whose name it returns.
func Microphone(ctx context.Context, find FindFunc) (source Source, name string, err error) {
	chosen, path, err := choose(recorders, find)
	if err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, path, chosen.arguments...)
	cmd.WaitDelay = endWithin
	var said lastWords
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, "", fmt.Errorf("record by %s: %w", chosen.name, err)
	}
	s := &stream{live: true, pieces: make(chan []int16, micPieces)}
	ended := make(chan struct{})
	s.finish = func() error {
		_ = cmd.Process.Kill() // it has ended, or ends now
		for range s.pieces {   // the goroutine may wait for a reader
		}
		<-ended
		return nil
	}
	go func() {
		defer close(ended)
		defer close(s.pieces)
		err := s.copy(out)
		if waited := cmd.Wait(); errors.Is(err, io.EOF) && waited != nil {
			err = waited
		}
		s.err = fmt.Errorf("%s does not record any more: %w%s", chosen.name, err, said.after(": "))
	}()
	return s, chosen.name, nil
}

// loudspeaker plays by a program.
type loudspeaker struct {
	frames chan []byte
	ended  chan struct{}
	err    atomic.Pointer[error]
	kill   context.CancelFunc
}

// Loudspeaker plays by the first program that is found of aplay, play (sox), paplay and ffplay,
// whose name it returns.
func Loudspeaker(ctx context.Context, find FindFunc) (sink Sink, name string, err error) {
	chosen, path, err := choose(players, find)
	if err != nil {
		return nil, "", err
	}
	ctx, kill := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, path, chosen.arguments...)
	cmd.WaitDelay = endWithin
	var said lastWords
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		kill()
		return nil, "", fmt.Errorf("play by %s: %w", chosen.name, err)
	}
	l := &loudspeaker{frames: make(chan []byte, deviceFrames), ended: make(chan struct{}), kill: kill}
	go func() {
		defer close(l.ended)
		err := l.copy(in)
		closed := in.Close()
		if waited := cmd.Wait(); err != nil {
			err = fmt.Errorf("%s does not play any more: %w%s", chosen.name, errors.Join(waited, closed, err), said.after(": "))
			l.err.Store(&err)
		}
	}()
	l.frames <- make([]byte, 2*lead)
	return l, chosen.name, nil
}

// copy writes until the frames end or the program does.
func (l *loudspeaker) copy(in io.Writer) error {
	for frame := range l.frames {
		if _, err := in.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

// Write implements Sink.
func (l *loudspeaker) Write(samples []int16) bool {
	select {
	case <-l.ended:
		return true
	default:
	}
	select {
	case l.frames <- audio.Default.AppendEncode(nil, samples):
		return true
	default:
		return false
	}
}

// Lag implements Sink.
func (l *loudspeaker) Lag() time.Duration { return lag }

// Err implements Sink.
func (l *loudspeaker) Err() error {
	if err := l.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Close implements Sink. A program that does not end by itself is killed.
func (l *loudspeaker) Close() error {
	close(l.frames)
	defer time.AfterFunc(endWithin, l.kill).Stop()
	defer l.kill()
	<-l.ended
	return nil
}

// lastWords keeps the end of what a program says about itself.
type lastWords struct{ text []byte }

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	const kept = 400
	w.text = append(w.text, p...)
	w.text = slices.Clone(w.text[max(0, len(w.text)-kept):])
	return len(p), nil
}

// after is what was said, behind a mark; "" when nothing was. The program has ended.
func (w *lastWords) after(mark string) string {
	text := bytes.TrimSpace(w.text)
	if len(text) == 0 {
		return ""
	}
	return mark + string(text)
}
