package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
)

const (
	// heardText is what the transcribers understand, whoever speaks, unless hear was called. No word
	// of it is one of the agent's, whose echo it could be taken for.
	heardText = "Could you please tell me about parking instead?"
	// perWord is the speech from which the streaming transcriber makes a word.
	perWord = 280 * time.Millisecond
	// endSilence is the silence from which it knows that a sentence has ended: less than any
	// endpointing of the service, more than any pause in the speech of package sounds.
	endSilence = 120 * time.Millisecond
	// loudDB is the level of speech.
	loudDB = -45
)

// listening is one connection of the streaming transcriber, which is one utterance.
type listening struct {
	conn  *websocket.Conn
	delay time.Duration
	tape  *tape
	text  string
	words []string
	// results are to be sent at their times, in order.
	results chan result

	odd          []byte
	block        []int16
	loud, silent time.Duration
	told         string
}

// result is a message to the service. The last one says that all is transcribed.
type result struct {
	at          time.Time
	text        string
	final, last bool
	heard       time.Duration
}

// listen is the transcriber that streams: each word is told delay after its sound, and so is the
// mark of the sentence's end; the whole of it delay after CloseStream.
func (p *providers) listen(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed
	conn.SetReadLimit(16 << 20)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	l := &listening{
		conn: conn, delay: p.delays.Load().transcript, tape: p.tape.Load(), text: *p.heard.Load(),
		results: make(chan result, 64), // far more than an utterance has words; else hearing waits
	}
	l.words = strings.Fields(l.text)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		l.send(ctx)
	}()
	l.hear(ctx)
	cancel()
	<-sent
}

// hear takes messages until the connection ends.
func (l *listening) hear(ctx context.Context) {
	for {
		kind, data, err := l.conn.Read(ctx)
		switch {
		case err != nil:
			return
		case kind == websocket.MessageBinary:
			l.take(ctx, data)
		case strings.Contains(string(data), "CloseStream"):
			text := ""
			if l.loud > 0 {
				text = l.text
			}
			l.tell(ctx, result{text: text, final: true})
			l.tell(ctx, result{last: true})
		}
	}
}

// take measures samples, in blocks of 10 ms, and tells what they add.
func (l *listening) take(ctx context.Context, data []byte) {
	const block = 10 * time.Millisecond
	data = append(l.odd, data...)
	for len(data) >= 2 {
		l.block = append(l.block, int16(uint16(data[0])|uint16(data[1])<<8))
		data = data[2:]
		if len(l.block) < audio.Samples(block, speech.HearingRate) {
			continue
		}
		if audio.Level(l.block) > loudDB {
			l.loud, l.silent = l.loud+block, 0
		} else {
			l.silent += block
		}
		l.block = l.block[:0]
		if text := l.understood(); text != l.told {
			l.told = text
			l.tell(ctx, result{text: text})
		}
	}
	l.odd = slices.Clone(data)
}

// understood is what was understood so far.
func (l *listening) understood() string {
	if l.loud > perWord && l.silent >= endSilence {
		return l.text
	}
	count := min(int(l.loud/perWord), len(l.words))
	return strings.TrimRight(strings.Join(l.words[:count], " "), "?")
}

// tell sends a result when the transcriber is that far.
func (l *listening) tell(ctx context.Context, r result) {
	// The mark is known as soon as the silence is: it is as late behind the end as words are.
	r.at, r.heard = time.Now().Add(l.delay), l.loud+l.silent
	if r.text == l.text && !r.final {
		r.at = time.Now().Add(max(0, l.delay-l.silent))
	}
	select {
	case l.results <- r:
	case <-ctx.Done():
	}
}

// send sends results at their times.
func (l *listening) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-l.results:
			if d := time.Until(r.at); d > 0 {
				time.Sleep(d)
			}
			l.tape.noteWords(r.text)
			if r.last {
				_ = l.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"Metadata","channels":1}`)) // as below
				_ = l.conn.Close(websocket.StatusNormalClosure, "")
				return
			}
			_ = l.conn.Write(ctx, websocket.MessageText, encode(map[string]any{ // or the caller has gone
				"type": "Results", "start": 0, "duration": r.heard.Seconds(), "is_final": r.final, "speech_final": false,
				"channel": map[string]any{"alternatives": []any{map[string]any{"transcript": r.text, "words": []any{}}}},
			}))
		}
	}
}
