package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/bench/rig"
	"parlance.dev/parlance/test/voices"
)

// frameLength is the sound of a frame that a caller sends.
const frameLength = 20 * time.Millisecond

// sound is what a caller says, as frames of the socket.
type sound struct {
	text   string
	frames [][]byte
	// samples are those of the frames.
	samples []int16
	// pad is the silence behind the last sample in the last frame.
	pad time.Duration
}

// length is how long it takes to say.
func (s *sound) length() time.Duration { return time.Duration(len(s.frames))*frameLength - s.pad }

// sounds are what callers send.
type sounds struct {
	// questions are sentences without pauses, by many voices. long are those of them that take
	// longest.
	questions, long []*sound
	// room is the noise of a quiet room, repeated between sentences.
	room [][]byte
	// agent is the synthesizer's sound.
	agent []int16
}

// texts are what callers say.
var texts = []string{
	"Can you tell me how much the delivery costs to Norway?",
	"I would like to book a table for four people tomorrow evening.",
	"Which documents do I need to open an account?",
	"How long does the battery of the small model last?",
	"Does the price include breakfast and the use of the pool?",
	"I want to change my address because we are moving to Bristol next month.",
	"Could you move my appointment to Thursday afternoon?",
	"I have a question about the warranty of my phone.",
}

// speakers are the voices in which each text is said.
var speakers = []voices.Voice{
	{Engine: "flite", Name: "slt", Speed: "1.0"},
	{Engine: "espeak-ng", Name: "en-us", Speed: "160"},
	{Engine: "flite", Name: "rms", Speed: "0.9"},
	{Engine: "espeak-ng", Name: "en-gb+f3", Speed: "180"},
	{Engine: "flite", Name: "awb", Speed: "1.0"},
	{Engine: "espeak-ng", Name: "en-us+m3", Speed: "150"},
}

// newSounds makes them; the same every time.
func newSounds(ctx context.Context) (*sounds, error) {
	maker, err := voices.NewMaker(ctx)
	if err != nil {
		return nil, err
	}
	s := &sounds{}
	for i, text := range texts {
		for j := range 3 {
			samples, err := maker.Say(speakers[(i+2*j)%len(speakers)], text)
			if err != nil {
				return nil, err
			}
			if longestPause(samples) >= endSilence-frameLength {
				continue // the transcriber would take it for the end
			}
			made, err := newSound(text, samples)
			if err != nil {
				return nil, err
			}
			s.questions = append(s.questions, made)
		}
	}
	const enough = 6
	if len(s.questions) < enough {
		return nil, fmt.Errorf("only %d questions have no pauses", len(s.questions))
	}
	slices.SortStableFunc(s.questions, func(a, b *sound) int { return len(b.frames) - len(a.frames) })
	s.long = s.questions[:enough]
	noise := voices.AtLevel(voices.PinkNoise(rand.New(rand.NewPCG(1, 0)), 4*voices.RateHz), voices.Level-45)
	room, err := newSound("", noise)
	if err != nil {
		return nil, err
	}
	s.room = room.frames
	agent, err := maker.Say(speakers[0], texts[1])
	if err == nil {
		s.agent, err = voices.AtRate(agent, voices.RateHz, audio.Default.RateHz)
	}
	return s, err
}

// longestPause is the longest time below the transcriber's level.
func longestPause(samples []int16) (longest time.Duration) {
	const block = 10 * time.Millisecond
	var pause time.Duration
	for piece := range slices.Chunk(samples, audio.Samples(block, voices.RateHz)) {
		if pause += block; audio.Level(piece) > loudDB {
			pause = 0
		}
		longest = max(longest, pause)
	}
	return longest
}

// newSound makes frames of samples at the makers' rate.
func newSound(text string, samples []int16) (*sound, error) {
	samples, err := voices.AtRate(samples, voices.RateHz, audio.Default.RateHz)
	if err != nil {
		return nil, err
	}
	s := &sound{text: text, samples: samples}
	size := audio.Samples(frameLength, audio.Default.RateHz)
	for len(samples) > 0 {
		frame := make([]int16, size)
		n := copy(frame, samples)
		samples, s.pad = samples[n:], audio.Duration(size-n, audio.Default.RateHz)
		data := base64.StdEncoding.EncodeToString(audio.Default.AppendEncode(nil, frame))
		s.frames = append(s.frames, rig.Frame(rig.OpText, []byte(`{"type":"input_audio_buffer.append","audio":"`+data+`"}`)))
	}
	return s, nil
}
