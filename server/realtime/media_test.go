package realtime_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/server/realtime/mediastream"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/workspaces"
)

// line is a carrier's end of a media socket.
type line struct {
	t    *testing.T
	f    *fixture
	conn *websocket.Conn
	// messages are those that the test has not looked at. It is closed with the socket, for the reason
	// err.
	messages chan []byte
	err      error
}

// dialMedia opens a media socket as a carrier does, and sends its first messages.
func (f *fixture) dialMedia(t *testing.T, messages ...string) *line {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), f.base+"/v1/telephony/twilio/media", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, f: f, conn: conn, messages: make(chan []byte, 10_000)}
	reading := make(chan struct{})
	go func() { // ends with the socket; pings are answered while it reads
		defer close(reading)
		defer close(l.messages)
		for {
			_, data, err := conn.Read(context.WithoutCancel(t.Context()))
			if l.err = err; err != nil {
				return
			}
			l.messages <- data
		}
	}()
	t.Cleanup(func() {
		_ = conn.CloseNow()
		<-reading
	})
	for _, m := range messages {
		l.send(m)
	}
	return l
}

const connected = `{"event":"connected","protocol":"Call","version":"1.0.0"}`

const stopped = `{"event":"stop","streamSid":"MZ1","stop":{"accountSid":"AC1","callSid":"CA1"}}`

func startOf(id sessions.ID, token string) string {
	return `{"event":"start","sequenceNumber":"1","streamSid":"MZ1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1",` +
		`"tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},` +
		`"customParameters":{"session_id":"` + string(id) + `","token":"` + token + `"}}}`
}

// call opens the media socket of a new session.
func (f *fixture) call(t *testing.T) (*line, sessions.ID) {
	t.Helper()
	made := f.create(t, sessions.Voice)
	return f.dialMedia(t, connected, startOf(made.Session.ID, made.Token)), made.Session.ID
}

func (l *line) send(message string) {
	l.t.Helper()
	if err := l.conn.Write(l.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		l.t.Fatal(err)
	}
}

// next is the next message to the carrier; nil when the socket was closed.
func (l *line) next() event {
	l.t.Helper()
	select {
	case data, open := <-l.messages:
		if !open {
			return nil
		}
		var m event
		if err := json.Unmarshal(data, &m); err != nil || m["streamSid"] != "MZ1" {
			l.t.Fatalf("message %q: %v", data, err)
		}
		return m
	case <-time.After(patience):
		l.t.Fatal("the carrier is sent nothing")
		return nil
	}
}

// mark reads to the next mark, and returns its name and the sound before it; "" when the socket was
// closed.
func (l *line) mark() (name string, sound []byte) {
	l.t.Helper()
	for {
		m := l.next()
		switch {
		case m == nil:
			return "", sound
		case m["event"] == "mark":
			return path(m, "mark", "name").(string), sound
		case m["event"] == "clear":
			continue
		}
		data, err := base64.StdEncoding.DecodeString(path(m, "media", "payload").(string))
		if err != nil {
			l.t.Fatal(err)
		}
		sound = append(sound, data...)
	}
}

func (l *line) played(mark string) {
	l.send(`{"event":"mark","streamSid":"MZ1","mark":{"name":"` + mark + `"}}`)
}

func (l *line) press(digits string) {
	for _, digit := range digits {
		l.send(`{"event":"dtmf","streamSid":"MZ1","dtmf":{"track":"inbound_track","digit":"` + string(digit) + `"}}`)
	}
}

// speak sends sound of 24 kHz in frames of 20 ms, as client.sendSound does.
func (l *line) speak(samples []int16) {
	l.t.Helper()
	run := l.f.stopClock()
	defer run()
	resampler, err := audio.NewResampler(24000, 8000)
	if err != nil {
		l.t.Fatal(err)
	}
	for chunk := range slices.Chunk(resampler.AppendFlush(resampler.AppendResample(nil, samples)), 160) {
		payload := base64.StdEncoding.EncodeToString(mediastream.Format.AppendEncode(nil, chunk))
		l.send(`{"event":"media","streamSid":"MZ1","media":{"track":"inbound","payload":"` + payload + `"}}`)
	}
	if err := l.conn.Ping(l.t.Context()); err != nil { // the pong comes behind the sound
		l.t.Fatal(err)
	}
}

// hearAll plays sound until so much of it came.
func (l *line) hearAll(length time.Duration) (sound []byte) {
	l.t.Helper()
	for audio.Duration(len(sound), 8000) < length {
		name, piece := l.mark()
		if name == "" {
			l.t.Fatal("the socket was closed")
		}
		l.played(name)
		sound = append(sound, piece...)
	}
	return sound
}

// closed reads to the close frame.
func (l *line) closed() websocket.CloseError {
	l.t.Helper()
	for l.next() != nil {
	}
	closed, _ := errors.AsType[websocket.CloseError](l.err)
	return closed
}

// until reads to an event.
func (l *line) until(kind string) {
	l.t.Helper()
	for {
		switch m := l.next(); {
		case m == nil:
			l.t.Fatalf("the socket was closed before %s", kind)
		case m["event"] == kind:
			return
		}
	}
}

// transcript is the turns of a session.
func (f *fixture) transcript(t *testing.T, id sessions.ID) []sessions.Turn {
	t.Helper()
	all, _, err := f.Transcript(t.Context(), f.principal, id, postgres.PageParams{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTelephoneCall: a caller is greeted, heard and answered, and hangs up.
func TestTelephoneCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Welcome to the bakery."}, realtime.Limits{})
	// Speech over the greeting may be transcribed more than once.
	f.stack.Transcriber, _ = transcriber(t, slices.Repeat([]speechtest.Heard{{Text: "Are you open today, please?"}}, 4)...)
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("We are open until six."))
	l, id := f.call(t)
	sound := l.hearAll(time.Second)
	decoder := audio.Decoder{Format: mediastream.Format}
	if level := audio.Level(decoder.AppendDecode(nil, sound)); level < -40 {
		t.Errorf("the greeting has %.0f dB", level)
	}
	l.speak(soundOf(t, f.stack.Synthesizer, "Are you open today, please?"))
	l.hearAll(time.Second)
	f.awaitTurns(t, id, sessions.TurnCompleted, 2)
	l.send(stopped)
	wantClose(t, l.closed(), 1000, "hang_up")
	f.awaitSession(t, id, "the end", func(s sessions.Session) bool { return s.Status == sessions.Completed })
	if all := f.transcript(t, id); all[1].UserText != "Are you open today, please?" {
		t.Errorf("heard %q", all[1].UserText)
	}
}

// TestTelephoneInterrupted: the text is cut to what the marks say was played.
func TestTelephoneInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Transcriber, _ = transcriber(t, slices.Repeat([]speechtest.Heard{{Text: "Stop, that is enough."}}, 4)...)
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("The first thing to know is that we open at nine. The second thing is that we close at six."+
		" The third thing is that we sell bread, cheese and wine. The fourth thing is that parking is free."), say("All right."))
	l, id := f.call(t)
	run := f.stopClock()
	l.press("1#")
	last := ""
	for i := range 40 {
		name, _ := l.mark()
		if i < 20 { // the others were sent, and not played
			l.played(name)
			last = name
		}
		f.advance(pieceMS * time.Millisecond)
	}
	l.speak(soundOf(t, f.stack.Synthesizer, "Stop, that is enough!"))
	run()
	l.until("clear")
	_, position, _ := strings.Cut(last, "@")
	position, _, _ = strings.Cut(position, "#")
	heardMS, err := strconv.Atoi(position)
	if err != nil {
		t.Fatal(err)
	}
	l.hearAll(200 * time.Millisecond)
	f.awaitTurns(t, id, sessions.TurnCompleted, 2)
	items := f.transcript(t, id)[0].Items
	cut := items[len(items)-1].Cut
	if cut == nil || cut.AudioEndMS != heardMS || len(cut.Text) < 3 || strings.Contains(cut.Text, "second thing is") {
		t.Errorf("cut to %+v, played %d ms", cut, heardMS)
	}
}

// TestTelephoneKeys: keys are asked behind a #, or when none follows, and interrupt the agent.
func TestTelephoneKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	f.model.then(say("You have chosen twelve, which is a very long text to listen to until its end."), say("Three."))
	run := f.stopClock()
	l, id := f.call(t)
	l.press("1x2#")
	f.awaitTurns(t, id, sessions.TurnCompleted, 1)
	l.mark()
	l.press("3")
	l.until("clear")
	run()
	f.advance(1500 * time.Millisecond)
	l.hearAll(100 * time.Millisecond)
	f.awaitTurns(t, id, sessions.TurnCompleted, 2)
	all := f.transcript(t, id)
	if all[0].UserText != "Keys pressed: 12#" || all[1].UserText != "Keys pressed: 3" {
		t.Errorf("asked %q and %q", all[0].UserText, all[1].UserText)
	}
}

// TestKeysBeforeHangUp: keys that are not asked yet when the caller hangs up are in the transcript.
func TestKeysBeforeHangUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.stopClock()
	l, id := f.call(t)
	l.press("4711")
	l.send(stopped)
	l.closed()
	f.awaitUserText(t, id, "Keys pressed: 4711")
}

// TestTelephoneFarewell: a call that the agent ends is closed when the last sentence was played.
func TestTelephoneFarewell(t *testing.T) {
	t.Parallel()
	for _, plays := range []bool{true, false} {
		t.Run(strconv.FormatBool(plays), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, realtime.Limits{})
			f.stack.Synthesizer = speaker(t)
			f.model.then(call("end_call", `{"reason":"done","message":"Thank you for calling. Goodbye."}`))
			l, id := f.call(t)
			l.press("9#")
			var marks []string
			f.awaitSession(t, id, "the end", func(s sessions.Session) bool { return s.Status == sessions.Completed })
			for name, _ := l.mark(); name != ""; name, _ = l.mark() {
				if marks = append(marks, name); plays {
					l.played(name)
				}
			}
			if len(marks) < 5 {
				t.Errorf("only %d pieces were sent", len(marks))
			}
		})
	}
}

// TestMediaRefused: what is no call of a session is closed with a reason.
func TestMediaRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, text := f.create(t, sessions.Voice), f.create(t, sessions.Text)
	good := startOf(made.Session.ID, made.Token)
	for name, row := range map[string]struct {
		messages []string
		reason   string
	}{
		"a bad token":     {[]string{connected, startOf(made.Session.ID, "wrong")}, "session-token-invalid"},
		"another session": {[]string{connected, startOf("ses_other", made.Token)}, "session-token-invalid"},
		"a text session":  {[]string{connected, startOf(text.Session.ID, text.Token)}, "session-modality"},
		"no start":        {[]string{connected, connected}, "no-start"},
		"sound first":     {[]string{`{"event":"media"}`}, "no-start"},
		"too long":        {[]string{connected, strings.Replace(good, "MZ1", strings.Repeat("M", 9000), 1)}, "no-start"},
		"another format":  {[]string{connected, strings.Replace(good, "8000", "16000", 1)}, "invalid-request"},
	} {
		t.Run(name, func(t *testing.T) {
			wantClose(t, f.dialMedia(t, row.messages...).closed(), 1008, row.reason)
		})
	}
	if got := f.session(t, made.Session.ID).Status; got != sessions.Pending {
		t.Errorf("refused sockets left the session %s", got)
	}
	url := f.base + "/v1/telephony/twilio/media"
	if res := f.get(t, "GET", url, nil); res.StatusCode != 400 {
		t.Errorf("without an upgrade: %d", res.StatusCode)
	}
	if res := f.get(t, "POST", url, nil); res.StatusCode != 405 {
		t.Errorf("POST: %d", res.StatusCode)
	}
	late := newFixture(t, agents.Config{}, realtime.Limits{StartTimeout: time.Millisecond})
	wantClose(t, late.dialMedia(t).closed(), 1008, "no-start")
}

// TestMediaLost: a lost media socket is a lost call, and nothing is kept for it.
func TestMediaLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Welcome to the bakery."}, realtime.Limits{MaxSocketsPerTenant: 1})
	f.stack.Synthesizer = speaker(t)
	l, id := f.call(t)
	l.mark()
	other := f.create(t, sessions.Voice)
	wantClose(t, f.dialMedia(t, connected, startOf(other.Session.ID, other.Token)).closed(), 1012, "reconnect")
	_ = l.conn.CloseNow()
	f.awaitSession(t, id, "the end", func(s sessions.Session) bool { return s.EndReason == sessions.ReasonDisconnected })
}

// TestMediaEndNotNoted: when it cannot be known whether the end of a media socket is a transfer's,
// the session waits for the caller.
func TestMediaEndNotNoted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Welcome to the bakery."}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	f.calls.err = errors.New("deadlock detected")
	l, id := f.call(t)
	l.mark()
	l.send(stopped)
	l.closed()
	f.awaitSession(t, id, "the end of the socket", func(s sessions.Session) bool { return s.Closed() || !s.DroppedAt.IsZero() })
	if s := f.session(t, id); s.Closed() {
		t.Errorf("the session is over: %s", s.EndReason)
	}
}

// TestTransferredWhileSpeaking: the transcript has what a caller has heard of the agent who is then
// connected with a person.
func TestTransferredWhileSpeaking(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: longAnswer}, realtime.Limits{})
	f.stack.Synthesizer = speaker(t)
	f.calls.goesOn = true
	f.stopClock()
	l, id := f.call(t)
	for range 20 {
		l.mark()
		f.advance(pieceMS * time.Millisecond)
	}
	l.send(stopped)
	l.closed()
	cut := func() *sessions.Cut { return f.transcript(t, id)[0].Items[0].Cut }
	await(t, "the first message is cut", func() bool { return cut() != nil })
	if got := cut().Text; len(got) > len(longAnswer)/2 || !strings.HasPrefix(longAnswer, got) {
		t.Errorf("heard was %q", got)
	}
}

// TestTransferredWords: the transcript has what such a caller has said last.
func TestTransferredWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	gate := make(chan struct{})
	hears, server := transcriber(t, speechtest.Heard{Text: "My number is 4711.", Gate: gate})
	f.stack.Transcriber, f.stack.Synthesizer = hears, speaker(t)
	f.calls.goesOn, f.calls.ended = true, make(chan struct{})
	l, id := f.call(t)
	l.speak(slices.Concat(soundOf(t, f.stack.Synthesizer, "My number is four seven one one."), silence(2000)))
	await(t, "the transcriber is asked", func() bool { return len(server.Hearing.Requests()) > 0 })
	l.send(stopped)
	<-f.calls.ended
	close(gate)
	l.closed()
	f.awaitUserText(t, id, "My number is 4711.")
}

// noCalls are no telephone calls: nobody is transferred.
type noCalls struct {
	// goesOn and err are what MediaEnded returns.
	goesOn bool
	err    error
	// ended, unless nil, is closed by MediaEnded, which is then called once.
	ended chan struct{}
}

func (*noCalls) TransferNow(context.Context, workspaces.TenantID, sessions.ID) error { return nil }

func (c *noCalls) MediaEnded(context.Context, telephony.MediaEndedParams) (bool, error) {
	if c.ended != nil {
		close(c.ended)
	}
	return c.goesOn, c.err
}
