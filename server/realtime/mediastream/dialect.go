package mediastream

import (
	"encoding/json"
	"log/slog"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// commandHeard is the id of the commands that say what was heard.
const commandHeard = "mark"

// Dialect is one media socket's state. Its methods are never called at the same time.
type Dialect struct {
	stream string
	speaks bool
	log    *slog.Logger
	marks  marks
	// filler is the message that is said because the caller waits: the conversation does not know it.
	filler string
	note   string
	// transfers says that the caller is to be connected with a person, and answering that the agent is
	// still to say something.
	transfers, answering bool
	// warned has what was logged once.
	warned map[string]bool
	// step is the result of the call that is being handled.
	step dialect.Builder
}

// Params is what a dialect starts with, beside those of all dialects.
type Params struct {
	dialect.Params
	// StreamSID is that of Start.
	StreamSID string
	// Note is that of Start.
	Note string
	// Log is told, once a call, what the caller cannot hear.
	Log *slog.Logger
}

// New makes a dialect. Open is to be called first.
func New(p Params) *Dialect {
	return &Dialect{stream: p.StreamSID, speaks: p.Speaks, note: p.Note, log: p.Log, warned: map[string]bool{}}
}

// Open implements dialect.Dialect.
func (d *Dialect) Open() dialect.Step {
	d.step.Command(voice.Configure{Input: Format, Output: Format})
	if !d.speaks {
		d.warn("caller on the telephone hears nothing: no synthesizer is configured")
	}
	if d.note == NoteTransferFailed {
		d.step.Command(live.Insert{Kind: sessions.SystemItem, Text: transferFailed})
		d.step.Command(live.Respond{Spoken: true, Awaited: true})
	}
	return d.step.Take()
}

// Frame implements dialect.Dialect. A message that cannot be read is ignored, as there is nobody to
// tell.
func (d *Dialect) Frame(data []byte) dialect.Step {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		d.warn("message of a carrier not read")
		return d.step.Take()
	}
	switch m.Event {
	case eventMedia:
		if m.Media != nil && m.Media.Track != trackOutbound && len(m.Media.Payload) > 0 {
			d.step.Command(voice.Append{Data: m.Media.Payload})
		}
	case eventDTMF:
		d.step.Command(voice.Key{Digit: m.DTMF.Digit})
	case eventMark:
		d.marks.played(m.Mark.Name)
		d.transferIfSaid()
	case eventStop:
		d.marks.drop()
		d.step.HungUp = true
	}
	return d.step.Take()
}

// BinaryFrame implements dialect.Dialect. The protocol has none.
func (d *Dialect) BinaryFrame() dialect.Step { return dialect.Step{} }

// Event implements dialect.Dialect.
func (d *Dialect) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case voice.Audio:
		d.play(e)
	case voice.Interrupted, voice.SpeechStarted: // the latter comes alone when all of an answer was sent
		d.interrupt()
	case voice.Filler:
		d.filler = e.ItemID
	case turns.ResponseStarted:
		if !e.Spoken && !e.OutOfBand {
			d.warn("answer on the telephone is text, which the caller does not hear")
		}
		d.answering = true
	case live.HandoverChanged:
		d.transfers = e.Status == sessions.HandoverRequested
		d.transferIfSaid()
	case turns.ResponseDone:
		d.answering = false
		d.transferIfSaid()
	case live.Failed:
		if e.CommandID != commandHeard && e.Err != nil {
			d.warn(string(e.Err.Reason))
		}
	}
	return d.step.Take()
}

// Close implements dialect.Dialect.
func (d *Dialect) Close(int, string) dialect.Step { return dialect.Step{} }

// Drained implements dialect.Drainer.
func (d *Dialect) Drained() bool { return !d.marks.isPlaying() }

// transferIfSaid has the caller connected with a person once they have heard what the agent said
// last.
func (d *Dialect) transferIfSaid() {
	if d.transfers && !d.answering && !d.marks.isPlaying() {
		d.transfers, d.step.Transfer = false, true
	}
}

// play sends sound, and a mark behind it.
func (d *Dialect) play(e voice.Audio) {
	if len(e.Data) == 0 {
		return
	}
	name := d.marks.add(e.ItemID, len(e.Data)/Format.BytesPerSample())
	d.step.Send("", media{Event: eventMedia, StreamSID: d.stream, Media: payload{e.Data}})
	d.step.Send("", mark{Event: eventMark, StreamSID: d.stream, Mark: markName{name}})
}

// interrupt has the carrier drop what it has not played, and the conversation keep what was heard.
// The tones of keys are played to their end: somebody speaks over them on most lines.
func (d *Dialect) interrupt() {
	if !d.marks.isPlaying() || d.marks.hasTones() {
		return
	}
	d.step.Send("", clearBuffer{Event: eventClear, StreamSID: d.stream})
	for _, cut := range d.marks.drop() {
		if cut.item != d.filler {
			d.step.Command(live.Truncate{CommandID: commandHeard, ItemID: cut.item, AudioEndMS: int(cut.to / time.Millisecond)})
		}
	}
}

// warn logs, once a call, why a part of it does not work.
func (d *Dialect) warn(reason string) {
	if d.log != nil && !d.warned[reason] {
		d.warned[reason] = true
		d.log.Warn("part of a telephone call does not work", telemetry.KeyReason, reason)
	}
}
