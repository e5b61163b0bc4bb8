package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parlance.dev/parlance/test/voices"
)

// What is said in the timelines. The interruption has no word of the answer that it interrupts,
// whose echo it could be taken for.
const (
	openingQuestion = "When do you open tomorrow?"
	parkingQuestion = "But how much is your parking today?"
	openingAnswer   = "We open at nine in the morning and close at six in the evening. Breakfast is served until eleven."
	parkingAnswer   = "It costs five euros."
	// speaksBefore is how long the agent speaks before it is interrupted.
	speaksBefore = 1500 * time.Millisecond
	// margin is the time shown before and after what happens.
	margin = 100 * time.Millisecond
)

// timelines records a spoken turn and an interruption, and draws turn.svg and barge-in.svg in a
// directory.
func timelines(ctx context.Context, w *world, dir string) error {
	maker, err := voices.NewMaker(ctx)
	if err != nil {
		return err
	}
	var questions [2]*sound
	for i, text := range []string{openingQuestion, parkingQuestion} {
		samples, err := maker.Say(speakers[0], text)
		if err != nil {
			return err
		}
		if longestPause(samples) >= endSilence-frameLength {
			return fmt.Errorf("%q has a pause, which the transcriber takes for its end", text)
		}
		if questions[i], err = newSound(text, samples); err != nil {
			return err
		}
	}
	t := &tape{}
	w.providers.tape.Store(t)
	c, err := w.call(ctx, 0, nil, t)
	if err != nil {
		return err
	}
	defer c.hangUp()
	turn, err := w.recordTurn(ctx, c, questions[0])
	if err != nil {
		return err
	}
	bargeIn, err := w.recordBargeIn(ctx, c, questions[0], questions[1])
	if err != nil {
		return err
	}
	return errors.Join(turn.write(dir, "turn.svg"), bargeIn.write(dir, "barge-in.svg"))
}

// write writes the picture to a file.
func (p picture) write(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(p.svg()), 0o644); err != nil {
		return fmt.Errorf("writing a picture: %w", err)
	}
	return nil
}

// recordTurn records a question and its answer; one before it, which warms up, is not recorded.
func (w *world) recordTurn(ctx context.Context, c *caller, question *sound) (picture, error) {
	w.providers.set(fixedDelays, shortAnswer)
	w.providers.hear(question.text)
	var t turn
	for range 2 {
		if err := pause(ctx, time.Second); err != nil {
			return picture{}, err
		}
		c.tape.take()
		var err error
		if t, err = c.ask(ctx, question); err != nil {
			return picture{}, err
		}
	}
	return turnPicture(c.tape.take(), question, t), nil
}

// recordBargeIn records a question whose answer is interrupted by another question.
func (w *world) recordBargeIn(ctx context.Context, c *caller, question, interruption *sound) (picture, error) {
	w.providers.set(fixedDelays, openingAnswer)
	if err := pause(ctx, time.Second); err != nil {
		return picture{}, err
	}
	c.tape.take()
	c.forget()
	if _, err := c.mic.say(ctx, question); err != nil {
		return picture{}, err
	}
	if _, err := c.await(ctx, c.firsts, "sound"); err != nil {
		return picture{}, err
	}
	if err := pause(ctx, speaksBefore); err != nil {
		return picture{}, err
	}
	w.providers.set(fixedDelays, parkingAnswer)
	w.providers.hear(interruption.text)
	t, err := c.askOver(ctx, interruption)
	if err != nil {
		return picture{}, err
	}
	cut, err := w.heardOf(ctx, c.session)
	if err != nil {
		return picture{}, err
	}
	return bargeInPicture(c.tape.take(), interruption, t, cut), nil
}

// askOver is ask while the agent speaks: the answer that is cut ends first.
func (c *caller) askOver(ctx context.Context, question *sound) (t turn, err error) {
	c.forget()
	if t.spoken, err = c.mic.say(ctx, question); err != nil {
		return t, err
	}
	if _, err = c.await(ctx, c.dones, "response.done of the answer that is cut"); err != nil {
		return t, err
	}
	if t.first, err = c.await(ctx, c.firsts, "sound"); err != nil {
		return t, err
	}
	_, err = c.await(ctx, c.dones, "response.done")
	return t, err
}

// heardOf is how much of the answer that was cut was heard, as the transcript has it.
func (w *world) heardOf(ctx context.Context, session string) (string, error) {
	var transcript struct {
		Turns []struct {
			Items []struct {
				Heard *struct {
					Text string `json:"text"`
				} `json:"heard"`
			} `json:"items"`
		} `json:"turns"`
	}
	if err := w.Do(ctx, http.MethodGet, "/sessions/"+session+"/transcript", nil, &transcript); err != nil {
		return "", err
	}
	for _, t := range slices.Backward(transcript.Turns) {
		for _, item := range t.Items {
			if item.Heard != nil {
				return item.Heard.Text, nil
			}
		}
	}
	return "", errors.New("no answer of the transcript was cut")
}

// rows are the first events of these names at or after a time, and what else is given, in order of
// time.
func (r recording) rows(since time.Time, facts []event, names ...string) []event {
	for _, name := range names {
		if e := r.first(name, since); !e.at.IsZero() {
			facts = append(facts, e)
		}
	}
	slices.SortStableFunc(facts, func(a, b event) int { return a.at.Compare(b.at) })
	return facts
}

// providerLane has what one of the providers did.
func (r recording) providerLane(provider, name, unit string) lane {
	l := lane{name: name, unit: unit}
	for _, w := range r.work {
		if w.provider == provider {
			l.bars = append(l.bars, bar{w.began, w.done, number(w.done.Sub(w.began)) + " ms"})
		}
	}
	return l
}

// lanes are those of every picture: what the user says, and what becomes of it until it is heard.
// The client stops playing at a time; the zero time: never.
func (r recording) lanes(user lane, since, stops time.Time) []lane {
	agent := lane{name: "Agent's voice", unit: "as the client plays it"}
	ahead := lane{name: "Sent ahead", unit: "up to " + number(lead) + " ms"}
	for _, p := range r.playback(since) {
		until := p.end()
		if !stops.IsZero() && p.began.Before(stops) && stops.Before(until) {
			until = stops
		}
		heard, dropped := p.until(until)
		ahead.ahead = append(ahead.ahead, p.ahead(until))
		agent.waves = append(agent.waves, wave{heard.began, envelope(heard.samples), "agent"},
			wave{dropped.began, envelope(dropped.samples), "dropped"})
	}
	return []lane{
		user,
		{name: "Transcriber", unit: "words, " + number(fixedDelays.transcript) + " ms late", words: r.words},
		r.providerLane("model", "Model", "to its first token"),
		r.providerLane("synthesizer", "Synthesizer", "to its first sound"),
		ahead, agent,
	}
}

// soundEvent is the first sound since a time, as an event.
func (r recording) soundEvent(since time.Time) event {
	for _, s := range r.sound {
		if !s.at.Before(since) {
			return event{s.at, "response.output_audio.delta", "the first sound"}
		}
	}
	return event{}
}

func userLane(s *sound, began time.Time) lane {
	return lane{name: "User's voice", unit: "as it is spoken", waves: []wave{{began, envelope(s.samples), "user"}}}
}

func turnPicture(r recording, question *sound, t turn) picture {
	stopped, committed := r.first("input_audio_buffer.speech_stopped", t.ended), r.first("input_audio_buffer.committed", t.ended)
	text, done := r.first("response.output_audio_transcript.delta", t.ended), r.first("response.done", t.ended)
	since := func(at time.Time) string { return number(at.Sub(t.ended)) }
	return picture{
		title: "A spoken turn",
		description: fmt.Sprintf("From the end of the user's speech: after %s ms the end is believed, after %s ms the transcript is there "+
			"and the model is asked, after %s ms the first text of the answer comes, after %s ms its first sound.",
			since(stopped.at), since(committed.at), since(text.at), since(t.first)),
		zero: t.ended, zeroName: "the end of the user's speech",
		from: t.began.Sub(t.ended) - margin, to: r.end().Sub(t.ended) + margin,
		rows: r.rows(t.began, []event{
			{t.began, "the user begins to speak", ""}, {t.ended, "the user stops", ""}, r.soundEvent(t.ended),
		}, "input_audio_buffer.speech_started", stopped.name, committed.name, "conversation.item.input_audio_transcription.completed",
			"response.created", text.name, done.name),
		lanes: r.lanes(userLane(question, t.began), t.began, time.Time{}),
	}
}

func bargeInPicture(r recording, interruption *sound, t turn, heard string) picture {
	told := r.first("input_audio_buffer.speech_started", t.began)
	var last event
	for _, s := range r.sound {
		if s.at.Before(told.at) {
			last = event{s.at, "the last sound is sent: the agent pauses", ""}
		}
	}
	cancelled, next := r.first("response.done", t.began), r.first("response.created", t.ended)
	truncated := r.first("conversation.item.truncated", t.began)
	since := func(at time.Time) string { return number(at.Sub(t.began)) }
	rows := append([]event{
		{t.began, "the user begins to speak", ""},
		last,
		{t.ended, "the user stops", ""},
		r.soundEvent(t.ended),
	}, told, cancelled, truncated, next)
	return picture{
		title: "An interruption",
		description: fmt.Sprintf("From the beginning of the user's speech: after %s ms the last sound is sent, after %s ms the client is told "+
			"and stops playing, and the answer is cancelled and cut. The next answer begins after %s ms.",
			since(last.at), since(told.at), since(t.first)),
		zero: t.began, zeroName: "the beginning of the user's speech",
		from: -1100 * time.Millisecond, to: r.end().Sub(t.began) + margin,
		rows: r.rows(t.ended, rows, "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"conversation.item.input_audio_transcription.completed"),
		lanes: r.lanes(userLane(interruption, t.began), time.Time{}, told.at),
		notes: []string{
			"Grey: sound that was sent, and not played.",
			"Written: “" + openingAnswer + "”",
			"Heard, as the transcript and the model have it: “" + heard + "”",
		},
	}
}
