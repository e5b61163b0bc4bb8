package mediastream_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/mediastream"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

func open(t *testing.T, speaks bool) (*mediastream.Dialect, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	d := mediastream.New(mediastream.Params{
		Params: dialect.Params{Speaks: speaks}, StreamSID: "MZ1", Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	step := d.Open()
	want := []live.Command{voice.Configure{Input: mediastream.Format, Output: mediastream.Format}}
	if diff := cmp.Diff(want, step.Commands); diff != "" || len(step.Frames) > 0 {
		t.Errorf("opened with %+v\n%s", step, diff)
	}
	return d, log
}

// sent are the messages of a step.
func sent(t *testing.T, step dialect.Step) (messages []map[string]any) {
	t.Helper()
	if step.Err != nil {
		t.Fatal(step.Err)
	}
	for _, frame := range step.Frames {
		var m map[string]any
		if err := json.Unmarshal(frame.Data, &m); err != nil || frame.ID != "" || m["streamSid"] != "MZ1" {
			t.Fatalf("frame %q: %v", frame.Data, err)
		}
		messages = append(messages, m)
	}
	return messages
}

// play has a piece of 40 ms said, and returns its mark.
func play(t *testing.T, d *mediastream.Dialect, item string) string {
	t.Helper()
	messages := sent(t, d.Event(voice.Audio{ResponseID: "r", ItemID: item, Data: bytes.Repeat([]byte{0xff}, 320)}))
	if len(messages) != 2 || messages[0]["event"] != "media" || messages[1]["event"] != "mark" {
		t.Fatalf("sent %v", messages)
	}
	payload, _ := messages[0]["media"].(map[string]any)["payload"].(string)
	if len(payload) != 428 || !strings.HasPrefix(payload, "////") {
		t.Errorf("the sound is %q", payload)
	}
	return messages[1]["mark"].(map[string]any)["name"].(string)
}

func back(d *mediastream.Dialect, mark string) dialect.Step {
	return d.Frame([]byte(`{"event":"mark","streamSid":"MZ1","mark":{"name":"` + mark + `"}}`))
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for frame, want := range map[string]dialect.Step{
		`{"event":"media","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":"f38A"}}`: {
			Commands: []live.Command{voice.Append{Data: []byte{0x7f, 0x7f, 0}}},
		},
		`{"event":"media","media":{"track":"outbound","payload":"f38A"}}`: {},
		`{"event":"media","media":{"payload":""}}`:                        {},
		`{"event":"media"}`:                                             {},
		`{"event":"media","media":{"payload":"?"}}`:                     {},
		`{"event":"dtmf","dtmf":{"track":"inbound_track","digit":"1"}}`: {Commands: []live.Command{voice.Key{Digit: "1"}}},
		`{"event":"mark","mark":{"name":"unknown"}}`:                    {},
		`{"event":"stop","stop":{"callSid":"CA1"}}`:                     {HungUp: true},
		`{"event":"connected"}`:                                         {},
		`[1]`:                                                           {},
		`{`:                                                             {},
	} {
		d, _ := open(t, true)
		if diff := cmp.Diff(want, d.Frame([]byte(frame))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", frame, diff)
		}
	}
}

// TestInterrupted: what was played by the marks is kept, and the marks that come back because of
// the clear are not counted.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	d, _ := open(t, true)
	names := []string{play(t, d, "a"), play(t, d, "a"), play(t, d, "a"), play(t, d, "b")}
	if d.Drained() {
		t.Error("drained before anything was played")
	}
	back(d, names[0])
	back(d, names[1])
	step := d.Event(voice.Interrupted{ResponseID: "r"})
	if messages := sent(t, step); len(messages) != 1 || messages[0]["event"] != "clear" {
		t.Errorf("sent %v", messages)
	}
	want := []live.Command{
		live.Truncate{CommandID: "mark", ItemID: "a", AudioEndMS: 80}, live.Truncate{CommandID: "mark", ItemID: "b", AudioEndMS: 0},
	}
	if diff := cmp.Diff(want, step.Commands); diff != "" || !d.Drained() {
		t.Errorf("(-want +got)\n%s", diff)
	}
	back(d, names[2])
	back(d, names[3])
	last := play(t, d, "c")
	step = d.Event(voice.SpeechStarted{ItemID: "u"})
	if want := []live.Command{live.Truncate{CommandID: "mark", ItemID: "c", AudioEndMS: 0}}; !cmp.Equal(want, step.Commands) {
		t.Errorf("got %+v", step.Commands)
	}
	back(d, last)
	for _, e := range []turns.Event{voice.Interrupted{}, voice.SpeechStarted{}} { // nothing is being played
		if step := d.Event(e); len(step.Frames)+len(step.Commands) > 0 {
			t.Errorf("%T: %+v", e, step)
		}
	}
}

// TestMarksInOrder: a mark says that all before it was played, and one that is lost is no harm.
func TestMarksInOrder(t *testing.T) {
	t.Parallel()
	d, _ := open(t, true)
	names := []string{play(t, d, "a"), play(t, d, "a"), play(t, d, "b")}
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) != 3 {
		t.Errorf("marks %q", names)
	}
	back(d, names[1])
	back(d, names[0]) // it is played already
	if step := d.Event(voice.Interrupted{}); !cmp.Equal(step.Commands, []live.Command{live.Truncate{CommandID: "mark", ItemID: "b"}}) {
		t.Errorf("got %+v", step.Commands)
	}
}

// TestNotCut: the conversation does not know fillers, and tones are played to their end.
func TestNotCut(t *testing.T) {
	t.Parallel()
	d, _ := open(t, true)
	d.Event(voice.Filler{ResponseID: "r", ItemID: "f"})
	play(t, d, "f")
	if step := d.Event(voice.Interrupted{}); len(step.Frames) != 1 || len(step.Commands) > 0 {
		t.Errorf("a filler: %+v", step)
	}
	tone := play(t, d, "")
	if step := d.Event(voice.SpeechStarted{}); len(step.Frames)+len(step.Commands) > 0 || d.Drained() {
		t.Errorf("a tone: %+v", step)
	}
	if back(d, tone); !d.Drained() {
		t.Error("the tone was played")
	}
}

// TestUnheard: nothing of what is not sound is sent, and what cannot be heard is logged once.
func TestUnheard(t *testing.T) {
	t.Parallel()
	d, log := open(t, false)
	for range 2 {
		for _, e := range []turns.Event{
			turns.ResponseStarted{ResponseID: "r"},
			turns.TextDelta{ResponseID: "r", Text: "secret"},
			voice.Transcribed{Text: "secret"},
			voice.Audio{},
			live.Failed{CommandID: "mark", Err: fault.New(fault.InvalidRequest, "secret")},
			live.Failed{Err: fault.New(fault.STTNotConfigured, "secret")},
		} {
			if step := d.Event(e); len(step.Frames)+len(step.Commands) > 0 {
				t.Errorf("%T: %+v", e, step)
			}
		}
	}
	said := log.String()
	if strings.Count(said, "\n") != 3 || strings.Contains(said, "secret") || strings.Count(said, "stt-not-configured") != 1 {
		t.Errorf("logged %s", said)
	}
	if step := d.Close(1000, "x"); len(step.Frames) > 0 || len(d.BinaryFrame().Frames) > 0 {
		t.Errorf("closed with %+v", step)
	}
}

const startMessage = `{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1",` +
	`"tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},` +
	`"customParameters":{"session_id":"ses_1","token":"t"}},"streamSid":"MZ1"}`

func TestReadStart(t *testing.T) {
	t.Parallel()
	if _, more, err := mediastream.ReadStart([]byte(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)); !more || err != nil {
		t.Errorf("connected: %t, %v", more, err)
	}
	got, more, err := mediastream.ReadStart([]byte(startMessage))
	if want := (mediastream.Start{StreamSID: "MZ1", SessionID: "ses_1", Token: "t"}); got != want || more || err != nil {
		t.Errorf("start: %+v, %t, %v", got, more, err)
	}
	inPieces := strings.Replace(startMessage, `"token":"t"`, `"token":"a","token_2":"b","token_3":"c","token_5":"e"`, 1)
	if got, _, err := mediastream.ReadStart([]byte(inPieces)); got.Token != "abc" || err != nil {
		t.Errorf("a token in pieces: %+v, %v", got, err)
	}
	for _, message := range []string{
		``, `[]`, `{"event":"media"}`, strings.Replace(startMessage, "8000", "16000", 1), strings.Replace(startMessage, "x-mulaw", "x-l16", 1),
		strings.Replace(startMessage, `"channels":1`, `"channels":2`, 1), `{"event":"start"}`,
	} {
		if _, _, err := mediastream.ReadStart([]byte(message)); err == nil {
			t.Errorf("%s was read", message)
		}
	}
}

// FuzzFrame: no message of a carrier breaks the socket.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(startMessage))
	f.Add([]byte(`{"event":"media","media":{"track":"inbound","payload":"f38A"}}`))
	f.Add([]byte(`{"event":"mark","mark":{"name":"a@40#1"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := mediastream.New(mediastream.Params{StreamSID: "MZ1"})
		d.Event(voice.Audio{ItemID: "a", Data: make([]byte, 320)})
		if step := d.Frame(data); step.Err != nil || len(step.Frames) > 0 || len(step.Commands) > 1 {
			t.Errorf("%+v", step)
		}
		if _, more, err := mediastream.ReadStart(data); more && err != nil {
			t.Errorf("%t, %v", more, err)
		}
	})
}
