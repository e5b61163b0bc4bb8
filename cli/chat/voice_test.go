package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/cli/chat"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/clitest"
)

const ms = time.Millisecond

// TestVoiceFile speaks from a file, and ends when the answer was played. What was played has its
// true place in the recording.
func TestVoiceFile(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	answer := filepath.Join(t.TempDir(), "answer.wav")
	s.start(chat.VoiceTest{Voice: voiceFile(t, 400*ms), VoiceOut: answer})
	update, err := json.Marshal(s.wantSent("session.update")["session"])
	if err != nil {
		t.Fatal(err)
	}
	const format = `{"format":{"rate":24000,"type":"audio/pcm"}}`
	want := `{"audio":{"input":` + format + `,"output":` + format + `},"output_modalities":["audio"],"type":"realtime"}`
	if string(update) != want {
		t.Errorf("session.update %s", update)
	}
	s.advance(1500*ms, true)
	// The server hears a second of silence, in which the agent could greet, then the file.
	from := slices.IndexFunc(s.heard, func(sample int16) bool { return sample != 0 })
	if at := audio.Duration(from, sound.RateHz); at < 980*ms || at > 1020*ms {
		t.Errorf("the file begins after %s", at)
	}
	if file := voiceTone(400 * ms); !slices.Equal(s.heard[from-1:from-1+len(file)], file) {
		t.Error("the file is not what was sent")
	}
	s.say(`{"type":"input_audio_buffer.speech_started","audio_start_ms":1000,"item_id":"u"}`,
		`{"type":"input_audio_buffer.speech_stopped","audio_end_ms":1400,"item_id":"u"}`,
		`{"type":"input_audio_buffer.committed","item_id":"u"}`,
		`{"type":"conversation.item.input_audio_transcription.delta","item_id":"u","delta":"When are"}`,
		`{"type":"conversation.item.input_audio_transcription.delta","item_id":"u","delta":" you"}`,
		`{"type":"conversation.item.input_audio_transcription.completed","item_id":"u","transcript":"When are you open?"}`,
		created("r"), words("r", "a", "At nine,"), words("r", "a", " always."))
	s.advance(200*ms, true)
	played := s.passed()
	s.say(speech("r", "a", 300*ms), speech("r", "a", 300*ms),
		`{"type":"parlance.timing","response_id":"r","endpoint_ms":90,"transcript_ms":100,"first_token_ms":160}`,
		`{"type":"parlance.citations","response_id":"r","citations":[{"source_name":"Manual","page_start":3,"similarity":0.5}]}`, done("r"))
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	s.shows("Session ses_1 with Ada.\n", "\nyou   ▸ When are you open?\n", "\nAda   ▸ At nine, always.\n",
		"        source  Manual, page 3 (similarity 0.50)\n",
		// The last two are measured here: the sound came after 1,700 ms, and a tick later it was played.
		"        timing  end of speech → transcript 100 ms → first token 160 ms → first audio 300 ms → heard here 320 ms\n")
	recorded := readVoice(t, answer)
	tone := voiceTone(300 * ms)
	heard := slices.Concat(make([]int16, audio.Samples(played, sound.RateHz)), tone, tone)
	if len(recorded) < len(heard) || !slices.Equal(recorded[:len(heard)], heard) {
		t.Error("the answer is not where it was heard")
	}
	if got, after := audio.Duration(len(recorded), sound.RateHz), played+600*ms+3*time.Second; got < after-20*ms || got > after+60*ms {
		t.Errorf("recorded %s, want %s", got, after)
	}
	s.wantHungUp()
}

// TestVoiceGreeting: a file does not speak into the agent's greeting.
func TestVoiceGreeting(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	s.start(chat.VoiceTest{Voice: voiceFile(t, 100*ms), VoiceOut: filepath.Join(t.TempDir(), "answer.wav")})
	s.advance(200*ms, true)
	s.say(created("g"), words("g", "a", "Hello."), speech("g", "a", 2*time.Second), done("g"))
	s.advance(1980*ms, true)
	if slices.ContainsFunc(s.heard, func(sample int16) bool { return sample != 0 }) {
		t.Error("the file was sent while the agent spoke")
	}
	s.advance(100*ms, true)
	if !slices.ContainsFunc(s.heard, func(sample int16) bool { return sample != 0 }) {
		t.Error("the file was not sent after the greeting")
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	s.shows("Ada   ▸ Hello.\n", "parlance: nothing was understood in ")
	if strings.Contains(s.out.String(), "timing") {
		t.Errorf("a greeting has no timing:\n%s", s.out.String())
	}
}

// TestVoiceInterruption: the server is told how much was heard, and the rest is not played.
func TestVoiceInterruption(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	mic := newQuiet()
	s.start(chat.VoiceTest{Source: mic})
	s.advance(100*ms, true)
	s.say(`{"type":"input_audio_buffer.speech_stopped","audio_end_ms":40,"item_id":"u"}`,
		created("r"), words("r", "a", "We are open from nine to five."), speech("r", "a", 3*time.Second))
	s.advance(1200*ms, true)
	s.say(`{"type":"input_audio_buffer.speech_started","audio_start_ms":1200,"item_id":"v"}`)
	truncated := s.wantSent("conversation.item.truncate")
	if want := (map[string]any{
		"type": "conversation.item.truncate", "item_id": "a", "content_index": 0.0, "audio_end_ms": 1200.0,
	}); cmp.Diff(truncated, want) != "" {
		t.Errorf("got %v", truncated)
	}
	s.say(speech("r", "a", time.Second), `{"type":"input_audio_buffer.speech_started","audio_start_ms":1300,"item_id":"w"}`,
		`{"type":"response.done","response":{"id":"r","status":"cancelled"}}`)
	s.advance(100*ms, true)
	s.shows("        cut     after 1.2 s, about here: We are open\n",
		"        timing  end of speech → first token 60 ms → first audio 60 ms → heard here 80 ms\n")
	if got := s.kinds(); got != "session.update conversation.item.truncate" {
		t.Errorf("sent %s", got)
	}
	_ = s.conn.Close(websocket.StatusNormalClosure, "idle")
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	<-mic.closed
}

// TestVoiceHeardWhole: speech after an answer that was heard cuts nothing.
func TestVoiceHeardWhole(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	s.start(chat.VoiceTest{Source: newQuiet()})
	s.say(created("r"), words("r", "a", "Yes."), speech("r", "a", 100*ms), done("r"))
	s.advance(200*ms, true)
	s.say(`{"type":"input_audio_buffer.speech_started","audio_start_ms":150,"item_id":"v"}`)
	s.advance(40*ms, true)
	if got := s.kinds(); got != "session.update" {
		t.Errorf("sent %s", got)
	}
	_ = s.conn.Close(websocket.StatusNormalClosure, "idle")
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
}

// TestVoiceTyped: a line interrupts the agent, and is a turn.
func TestVoiceTyped(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	typed, keyboard := io.Pipe()
	s.start(chat.VoiceTest{Source: newQuiet(), In: typed, Terminal: true})
	s.say(created("r"), words("r", "a", "We are open."), speech("r", "a", time.Second))
	s.advance(500*ms, true)
	if _, err := io.WriteString(keyboard, "And on Sunday?\n"); err != nil {
		t.Fatal(err)
	}
	item, err := json.Marshal(s.wantSent("conversation.item.create")["item"])
	if err != nil || string(item) != `{"content":[{"text":"And on Sunday?","type":"input_text"}],"role":"user","type":"message"}` {
		t.Errorf("item %s, %v", item, err)
	}
	s.wantSent("response.create")
	if got := s.kinds(); got != "session.update conversation.item.truncate response.cancel conversation.item.create response.create" {
		t.Errorf("sent %s", got)
	}
	s.advance(100*ms, true)
	s.say(`{"type":"response.done","response":{"id":"r","status":"cancelled"}}`, created("q"), words("q", "b", "Closed."),
		speech("q", "b", 100*ms), done("q"))
	s.advance(40*ms, true)
	s.shows("Ada   ▸ Closed.\n", "        timing  typed → first token 100 ms → first audio 100 ms → heard here 120 ms\n")
	if _, err := io.WriteString(keyboard, "/mute\n/quit\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	s.shows("        muted   /mute again")
}

// TestVoiceMuted: the server hears silence from a microphone that is muted.
func TestVoiceMuted(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	typed, keyboard := io.Pipe()
	s.start(chat.VoiceTest{Source: loud{newQuiet()}, In: typed})
	s.advance(100*ms, true)
	if _, err := io.WriteString(keyboard, "/mute\n\n"); err != nil { // the second line: the first was taken
		t.Fatal(err)
	}
	before := len(s.heard)
	s.advance(100*ms, true)
	if audio.Level(s.heard[:before]) < -20 || audio.Level(s.heard[len(s.heard)-480:]) > -90 {
		t.Errorf("before %.0f dB, after %.0f dB", audio.Level(s.heard[:before]), audio.Level(s.heard[len(s.heard)-480:]))
	}
	if _, err := io.WriteString(keyboard, "/quit\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
}

// loud is a microphone that hears a tone.
type loud struct{ quiet }

func (l loud) Read(due int) ([]int16, error) {
	return voiceTone(audio.Duration(due, sound.RateHz)), nil
}

// TestVoiceWithoutTranscriber: a person is told once and types; a file cannot.
func TestVoiceWithoutTranscriber(t *testing.T) {
	t.Parallel()
	const missing = `{"type":"error","error":{"code":"stt-not-configured","message":"No transcriber is configured."}}`
	t.Run("Microphone", func(t *testing.T) {
		t.Parallel()
		s := newVoiceServer(t)
		typed, keyboard := io.Pipe()
		s.start(chat.VoiceTest{Source: newQuiet(), In: typed})
		s.advance(100*ms, true)
		s.say(missing, missing)
		s.advance(20*ms, false)
		before := len(s.heard)
		s.advance(100*ms, false)
		if _, err := io.WriteString(keyboard, "Hello?\n"); err != nil {
			t.Fatal(err)
		}
		s.wantSent("response.create")
		if len(s.heard) != before {
			t.Error("sound is sent to a server that does not listen")
		}
		if told := strings.Count(s.errs.String(), "PARLANCE_STT_BASE_URL"); told != 1 {
			t.Errorf("told %d times: %s", told, s.errs.String())
		}
		s.shows("docs/models.md", "type instead")
		_ = s.conn.Close(websocket.StatusNormalClosure, "idle")
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("File", func(t *testing.T) {
		t.Parallel()
		s := newVoiceServer(t)
		s.start(chat.VoiceTest{Voice: voiceFile(t, 100*ms), VoiceOut: filepath.Join(t.TempDir(), "answer.wav")})
		s.say(missing)
		if err := s.finish(); err == nil || !strings.Contains(err.Error(), "PARLANCE_STT_BASE_URL") {
			t.Error(err)
		}
	})
}

// TestVoiceJSON prints each event as a line, and our own measures.
func TestVoiceJSON(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	s.start(chat.VoiceTest{Source: newQuiet(), JSON: true})
	s.advance(100*ms, true)
	s.say(`{"type":"input_audio_buffer.speech_stopped","audio_end_ms":40,"item_id":"u"}`, created("r"), words("r", "a", "Yes."),
		speech("r", "a", 100*ms), done("r"))
	s.advance(40*ms, true)
	_ = s.conn.Close(websocket.StatusNormalClosure, "idle")
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var timing map[string]any
	for _, line := range (clitest.Result{Out: s.out.String()}).JSONLines(t) {
		kind, _ := line["type"].(string)
		if kinds = append(kinds, kind); kind == "response.output_audio.delta" && line["delta"] != nil {
			t.Error("a line has the samples of the sound")
		}
		timing = line
	}
	if got := strings.Join(kinds, " "); got != "session.created input_audio_buffer.speech_stopped response.created "+
		"response.output_audio_transcript.delta response.output_audio.delta response.done chat.timing" {
		t.Errorf("printed %s", got)
	}
	if want := (map[string]any{
		"type": "chat.timing", "response_id": "r", "typed": false, "interrupted": false,
		"first_token_ms": 60.0, "first_audio_ms": 60.0, "heard_ms": 80.0,
	}); cmp.Diff(timing, want) != "" {
		t.Errorf("got %v", timing)
	}
}

// TestVoiceEnds: what the agent said last is played before the conversation ends.
func TestVoiceEnds(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		code websocket.StatusCode
		says string
	}{
		"ByTheServer": {websocket.StatusNormalClosure, ""},
		"Failed":      {websocket.StatusInternalError, "the server closed the session: agent_ended (1011)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newVoiceServer(t)
			answer := filepath.Join(t.TempDir(), "answer.wav")
			s.start(chat.VoiceTest{Voice: voiceFile(t, 100*ms), VoiceOut: answer})
			s.say(created("r"), words("r", "a", "Goodbye."), speech("r", "a", 500*ms), done("r"))
			s.advance(20*ms, true)
			_ = s.conn.Close(row.code, "agent_ended")
			err := s.finish()
			if row.says != "" {
				if err == nil || err.Error() != row.says {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.shows("        ended   agent_ended\n")
			if got := readVoice(t, answer); !slices.Equal(got[len(got)-12_000:], voiceTone(500*ms)) {
				t.Error("the last words were not played")
			}
		})
	}
}

// TestVoiceUnanswered: a file does not wait for ever.
func TestVoiceUnanswered(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	s.start(chat.VoiceTest{Voice: voiceFile(t, 100*ms), VoiceOut: filepath.Join(t.TempDir(), "answer.wav")})
	s.advance(1200*ms, true)
	s.say(`{"type":"input_audio_buffer.committed","item_id":"u"}`)
	if err := s.finish(); err == nil || err.Error() != "no answer has come within 30s" {
		t.Error(err)
	}
}

// TestVoiceStopped: Ctrl-C hangs up.
func TestVoiceStopped(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		s.done <- chat.TalkBy(ctx, s.where, chat.VoiceTest{
			Source: newQuiet(), In: strings.NewReader(""), Out: &s.out, Err: &s.errs, Ticks: s.ticks, Now: func() time.Time { return begun },
		})
	}()
	s.accept()
	stop()
	if err := <-s.done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.wantHungUp()
}

// TestVoiceRefused says why the socket was refused.
func TestVoiceRefused(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	s.refusal = 503
	err := chat.TalkBy(t.Context(), s.where, chat.VoiceTest{Source: newQuiet(), In: strings.NewReader(""), Out: &s.out, Err: &s.errs})
	if err == nil || err.Error() != "open the session's WebSocket: This server has no room." {
		t.Error(err)
	}
}

// TestVoiceIsHarmless sends control sequences wherever the server writes.
func TestVoiceIsHarmless(t *testing.T) {
	t.Parallel()
	const attack = `a\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eb`
	s := newVoiceServer(t)
	s.start(chat.VoiceTest{Source: newQuiet()})
	s.say(`{"type":"conversation.item.input_audio_transcription.delta","item_id":"u","delta":"`+attack+`"}`,
		`{"type":"conversation.item.input_audio_transcription.completed","item_id":"u","transcript":"x`+attack+`"}`,
		created("r"), words("r", "a", attack), speech("r", "a", 100*ms),
		`{"type":"response.output_item.done","item":{"type":"mcp_call","name":"`+attack+`","arguments":"`+attack+`","output":"`+attack+`"}}`,
		`{"type":"response.output_item.done","item":{"type":"mcp_call","name":"t","arguments":"{}","error":{"message":"`+attack+`"}}}`,
		`{"type":"parlance.citations","citations":[{"source_name":"`+attack+`"}]}`,
		`{"type":"error","error":{"code":"`+attack+`","message":"`+attack+`"}}`, `{"type":"input_audio_buffer.speech_started"}`)
	s.advance(20*ms, true)
	_ = s.conn.Close(websocket.StatusNormalClosure, "\x1b[2J")
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	s.shows("a]0;owned[2J31mb", "tool    a]0;owned[2J31mb", "source  a]0;owned[2J31mb", "cut  ")
	if shown := s.out.String() + s.errs.String(); strings.ContainsAny(shown, "\x1b\x07\u009b\u202e") {
		t.Errorf("the terminal is told what to do: %q", shown)
	}
}

// TestVoiceAtRealPace runs the command itself, with the clock of the machine.
func TestVoiceAtRealPace(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	answer := filepath.Join(t.TempDir(), "answer.wav")
	ran := make(chan clitest.Result, 1)
	go func() {
		ran <- clitest.Execute(t, "", "chat", "--data-dir", s.dir, "--voice="+voiceFile(t, 100*ms), "--voice-out", answer)
	}()
	s.accept()
	s.say(`{"type":"session.created","session":{}}`)
	s.wait(func() bool { return slices.Max(append(s.heard, 0)) > 1000 }) // the file
	s.say(`{"type":"input_audio_buffer.speech_stopped","audio_end_ms":1100,"item_id":"u"}`,
		`{"type":"conversation.item.input_audio_transcription.completed","item_id":"u","transcript":"Hello?"}`,
		created("r"), words("r", "a", "Hello!"), speech("r", "a", 200*ms), done("r"))
	(<-ran).Wants(t, command.ExitDone, "you   ▸ Hello?", "agent ▸ Hello!", "timing  end of speech → transcript ")
	if got := readVoice(t, answer); slices.Max(got) < 9_000 {
		t.Error("the answer was not recorded")
	}
}

// TestVoiceFlags refuses what cannot be spoken, before there is a session.
func TestVoiceFlags(t *testing.T) {
	t.Parallel()
	s := newVoiceServer(t)
	empty := filepath.Join(t.TempDir(), "empty.wav")
	clitest.WriteFile(t, empty, string(audio.AppendWAV(nil, audio.Default, 1, nil)))
	good := voiceFile(t, 100*ms)
	for name, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"NoFile":      {[]string{"--voice=/no/such/file.wav"}, command.ExitFailed, "no such file"},
		"Empty":       {[]string{"--voice=" + empty}, command.ExitFailed, "has no sound in it"},
		"NoWAV":       {[]string{"--voice=" + filepath.Join(s.dir, command.EnvFile)}, command.ExitFailed, "does not begin with RIFF"},
		"Unwritable":  {[]string{"--voice=" + good, "--voice-out=/no/such/folder/a.wav"}, command.ExitFailed, "--voice-out"},
		"OutAlone":    {[]string{"--voice-out=a.wav"}, command.ExitUsage, "--voice-out is for conversations with --voice"},
		"Session":     {[]string{"--voice=" + good, "--session=ses_1"}, command.ExitUsage, "leave out --session"},
		"NoEqualSign": {[]string{"--voice", good}, command.ExitUsage, "write --voice=" + good},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Execute(t, "", append([]string{"chat", "--data-dir", s.dir}, row.args...)...).Wants(t, row.code, row.says)
		})
	}
}
