package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/platform/audio"
)

// tape records one call: the events of its socket, and what the providers do. A nil one records
// nothing.
type tape struct {
	mu sync.Mutex
	recording
}

// recording is what a tape has, in order of time.
type recording struct {
	// events are those that the server sent, but for its sound.
	events []event
	sound  []piece
	work   []work
	// words are the transcriber's results that have words.
	words []event
}

// event is something that happened at a time. Text is what came with it.
type event struct {
	at         time.Time
	name, text string
}

// piece is sound of the agent that came at a time.
type piece struct {
	at      time.Time
	samples []int16
}

// work is what a provider did, from being asked to its first token or sound.
type work struct {
	provider    string
	began, done time.Time
}

// take returns what was recorded, and forgets it.
func (t *tape) take() recording {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.recording
	t.recording = recording{}
	return r
}

// noteWork records what a provider that was asked at began has done until now.
func (t *tape) noteWork(provider string, began time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.work = append(t.work, work{provider, began, time.Now()})
}

// noteWords records what the transcriber says that it has heard so far.
func (t *tape) noteWords(text string) {
	if t == nil || text == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words = append(t.words, event{time.Now(), "words", text})
}

// noteEvent records an event of the socket.
func (t *tape) noteEvent(kind string, payload []byte, at time.Time) {
	if t == nil {
		return
	}
	var e struct {
		Delta      string `json:"delta"`
		Transcript string `json:"transcript"`
		AudioEndMS int    `json:"audio_end_ms"`
		Response   struct {
			Status string `json:"status"`
		} `json:"response"`
	}
	_ = json.Unmarshal(payload, &e) // an event that has other members of these names has no text
	t.mu.Lock()
	defer t.mu.Unlock()
	if kind == "response.output_audio.delta" {
		data, _ := base64.StdEncoding.DecodeString(e.Delta) // the server's own encoding
		decoder := audio.Decoder{Format: audio.Default}
		t.sound = append(t.sound, piece{at, decoder.AppendDecode(nil, data)})
		return
	}
	text := cmp.Or(e.Delta, e.Transcript)
	switch {
	case text != "":
		text = "“" + strings.TrimSpace(text) + "”"
	case kind == "response.done":
		text = e.Response.Status
	case kind == "conversation.item.truncated":
		text = "after " + strconv.Itoa(e.AudioEndMS) + " ms of sound"
	}
	t.events = append(t.events, event{at, kind, text})
}

// first is the first event of that name at or after a time; the zero event if there is none.
func (r recording) first(name string, since time.Time) event {
	for _, e := range r.events {
		if e.name == name && !e.at.Before(since) {
			return e
		}
	}
	return event{}
}

// played is sound as a client plays it: from a time on, and when each piece of it came.
type played struct {
	began   time.Time
	samples []int16
	pieces  []piece
}

// end is when all of it has been played.
func (p played) end() time.Time {
	return p.began.Add(audio.Duration(len(p.samples), audio.Default.RateHz))
}

// playback is the agent's sound since a time, as it is played: each answer from its first piece on.
func (r recording) playback(since time.Time) (all []played) {
	for _, s := range r.sound {
		if s.at.Before(since) {
			continue
		}
		if len(all) == 0 || s.at.After(all[len(all)-1].end()) {
			all = append(all, played{began: s.at})
		}
		last := &all[len(all)-1]
		last.samples, last.pieces = append(last.samples, s.samples...), append(last.pieces, s)
	}
	return all
}

// end is when the agent's sound has been played.
func (r recording) end() time.Time {
	all := r.playback(time.Time{})
	return all[len(all)-1].end()
}

// until divides sound into what was played before a time, and what was not played any more.
func (p played) until(at time.Time) (heard, dropped played) {
	n := min(len(p.samples), audio.Samples(at.Sub(p.began), audio.Default.RateHz))
	heard, dropped = p, p
	heard.samples, dropped.samples, dropped.pieces, dropped.began = p.samples[:n], p.samples[n:], nil, at
	return heard, dropped
}

// ahead is how much of the sound a client has and has not played, as a line of points; a client
// that stops at a time drops what it has.
func (p played) ahead(stops time.Time) (points []level) {
	end := p.began
	for _, s := range p.pieces {
		points = append(points, level{s.at, max(0, end.Sub(s.at))})
		end = end.Add(audio.Duration(len(s.samples), audio.Default.RateHz))
		points = append(points, level{s.at, end.Sub(s.at)})
	}
	if stops.Before(end) {
		points = append(points, level{stops, end.Sub(stops)})
		end = stops
	}
	return append(points, level{end, 0})
}

// level is how much there is of something at a time.
type level struct {
	at   time.Time
	much time.Duration
}

// envelope is the loudness of samples in steps of 20 ms, each 0 to 1 of the loudest.
func envelope(samples []int16) (out []float64) {
	loudest := 1.0
	for step := range slices.Chunk(samples, audio.Samples(frameLength, audio.Default.RateHz)) {
		peak := 0.0
		for _, s := range step {
			peak = max(peak, abs(float64(s)))
		}
		out = append(out, peak)
		loudest = max(loudest, peak)
	}
	for i := range out {
		out[i] /= loudest
	}
	return out
}
