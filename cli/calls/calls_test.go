package calls_test

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/clitest"
)

func (e *exchange) call(args ...string) clitest.Result {
	e.t.Helper()
	return e.Run(e.t, "", "call", alice, args...)
}

// wordsFile is a WAV file with a tone of so long.
func wordsFile(t *testing.T, d time.Duration) string {
	t.Helper()
	tone := make([]int16, audio.Samples(d, 16000))
	for i := range tone {
		tone[i] = int16(8000 * (i%32/16*2 - 1))
	}
	path := filepath.Join(t.TempDir(), "words.wav")
	clitest.WriteFile(t, path, string(audio.AppendWAV(nil, audio.Format{Encoding: audio.PCM16, RateHz: 16000}, 1, tone)))
	return path
}

// TestConversation: the agent greets, the phone says its words and presses a key, and hangs up when
// they are answered.
func TestConversation(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 1)
	e := newExchange(t, func(a *agent) {
		a.speak()
		a.hear(280 * time.Millisecond)
		a.speak()
		m := a.until("dtmf")
		key, _ := m["dtmf"].(map[string]any)["digit"].(string)
		keys <- key
		a.speak()
		a.until("stop")
		a.hangUp()
	})
	heard := filepath.Join(t.TempDir(), "heard.wav")
	e.call("--play", wordsFile(t, 300*time.Millisecond), "--press", "5", "--pause", "100ms", "--record", heard,
		"--reason", "A test", "--user", "ada").
		Wants(t, command.ExitDone, "planned   cb_1: agt_1 calls "+alice, "☎ "+own+" calls", "answered", "heard", "says", "words.wav",
			"presses   5", "hangs up", "over", "Hello, this is Ada.", "user     Hello there of ses_1", "completed cb_1 (answered)")
	if key := <-keys; key != "5" {
		t.Errorf("pressed %q", key)
	}
	if e.asked.GetUserId() != "ada" || e.asked.GetReason() != "A test" || !e.asked.GetIgnoreLimits() || e.asked.GetAgentId() != "agt_1" {
		t.Errorf("asked for %v", e.asked)
	}
	file, err := os.Open(heard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	recorded, _, err := audio.ReadWAV(file, 1<<24)
	if err != nil || audio.Level(recorded) < -45 {
		t.Errorf("recorded %d samples with %.0f dBFS: %v", len(recorded), audio.Level(recorded), err)
	}
}

// TestAgentHangsUp, and programs read what happens.
func TestAgentHangsUp(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(a *agent) { a.hangUp() })
	got := e.call("--answer", "--json")
	got.Wants(t, command.ExitDone)
	var events []string
	lines := got.JSONLines(t)
	for _, line := range lines {
		events = append(events, line["event"].(string))
	}
	if strings.Join(events, " ") != "planned ring answered hung_up turn turn callback" {
		t.Errorf("events %v", events)
	}
	if last := lines[len(lines)-1]["callback"].(map[string]any); last["status"] != "completed" || last["id"] != "cb_1" {
		t.Errorf("the last line %v", last)
	}
}

// TestHangUpAfter: the phone hangs up although nobody says anything.
func TestHangUpAfter(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(a *agent) { a.until("stop") })
	e.call("--hang-up-after", "50ms").Wants(t, command.ExitDone, "hangs up", "completed cb_1")
}

// TestNotAnswered: what was not completed is an error, which says what comes next.
func TestNotAnswered(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--busy", "--reject"} {
		e := newExchange(t, func(*agent) {})
		e.call(flag).Wants(t, command.ExitFailed, "☎", "busy cb_1: attempt 1 of 3; the agent calls again at", "parlance callbacks cancel cb_1")
	}
}

// TestMachine: the carrier is told that an answering machine has answered.
func TestMachine(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(a *agent) {
		a.hear(80 * time.Millisecond) // its greeting, at once
		a.hangUp()
	})
	e.call("--machine", "--play", wordsFile(t, 100*time.Millisecond)).Wants(t, command.ExitDone, "says", "completed cb_1")
}

// TestKeyboard: a person answers, presses keys and hangs up.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 2)
	e := newExchange(t, func(a *agent) {
		for range 2 {
			m := a.until("dtmf")
			key, _ := m["dtmf"].(map[string]any)["digit"].(string)
			keys <- key
		}
		a.until("stop")
	})
	p := e.person("call", alice)
	p.until("☎ " + own + " calls")
	p.types("hm")
	p.until("Enter answers")
	p.types("")
	p.until("answered")
	p.types("1#")
	p.until("presses   1#")
	if got := <-keys + <-keys; got != "1#" {
		t.Errorf("pressed %s", got)
	}
	p.types("q")
	p.until("completed cb_1")
	if code := <-p.code; code != command.ExitDone {
		t.Errorf("exit code %d", code)
	}
}

// TestQuit: nobody is called who has put the phone away.
func TestQuit(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(*agent) {})
	p := e.person("call", alice)
	p.until("☎")
	p.cancel()
	if code := <-p.code; code != command.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if id := <-e.canceled; id != "cb_1" {
		t.Errorf("canceled %s", id)
	}
}

// TestWait: the phone takes calls that it did not ask for.
func TestWait(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(a *agent) { a.hangUp() })
	p := e.person("call", alice, "--wait", "--answer", "--calls", "1")
	p.until(alice + " is there")
	e.place(alice)
	p.until("completed pcl_1 (agent_hung_up)")
	if code := <-p.code; code != command.ExitDone || !strings.Contains(p.said.String(), "Hello, this is Ada.") {
		t.Errorf("exit code %d\n%s", code, p.said.String())
	}
}

// TestDial: the phone calls an agent.
func TestDial(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(a *agent) {
		e := a.exchange
		e.mu.Lock()
		e.calls = append(e.calls, &parlancev1.PhoneCall{
			Id: "pcl_2", Direction: "inbound", From: alice, To: own, Status: "completed", EndReason: "agent_hung_up", SessionId: "ses_2",
			EndedAt: timestamppb.Now(),
		})
		e.mu.Unlock()
		a.hangUp()
	})
	e.call("--to", "+15005550007").Wants(t, command.ExitFailed, "nobody answers at +15005550007: no such number", "parlance numbers ls")
	e.mu.Lock()
	e.calls = append(e.calls, &parlancev1.PhoneCall{Id: "pcl_0", Direction: "inbound", From: alice, To: own, EndedAt: timestamppb.Now()})
	e.mu.Unlock()
	e.configure()
	e.call("--to", "+1 500 555 0006").Wants(t, command.ExitDone, "dials     "+own, "answered", "Hello there of ses_2", "completed pcl_2")
}

// configure has the carrier ask the agent about calls for its number.
func (e *exchange) configure() {
	e.t.Helper()
	e.rest("/IncomingPhoneNumbers/"+e.numberSID()+".json", url.Values{"VoiceUrl": {e.url + "/answer"}})
}

// TestCalls looks at calls, hangs up and transfers.
func TestCalls(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(*agent) {})
	calls := func(args ...string) clitest.Result {
		t.Helper()
		return e.Run(t, "", "calls", args[0], args[1:]...)
	}
	calls("ls").Wants(t, command.ExitDone, "There is no such call", "parlance call ")
	e.calls = []*parlancev1.PhoneCall{{
		Id: "pcl_1", Direction: "inbound", From: alice, To: own, Status: "completed", EndReason: "agent_hung_up", SessionId: "ses_1",
		CreatedAt: timestamppb.Now(), AnsweredAt: timestamppb.Now(), EndedAt: timestamppb.Now(), DurationSeconds: 63, PstnMinutes: 2,
	}}
	calls("ls").Wants(t, command.ExitDone, "completed: agent_hung_up", alice, own, "1 min 3 s", "pcl_1")
	calls("show", "pcl_1").Wants(t, command.ExitDone, alice+" → "+own, "ses_1", "1 min 3 s", "2 minutes")
	if got := calls("get", "pcl_1", "--json").JSONLines(t)[0]; got["session_id"] != "ses_1" {
		t.Errorf("shown: %v", got)
	}
	calls("show", "pcl_9").Wants(t, command.ExitFailed, "no such call as pcl_9", "parlance calls ls")
	calls("hang-up", "pcl_1").Wants(t, command.ExitDone, "completed pcl_1")
	calls("transfer", "pcl_1").Wants(t, command.ExitUsage, "NUMBER is missing")
	calls("transfer", "pcl_1", "+4930123456", "--mode", "warm", "--summary", "Order 7").
		Wants(t, command.ExitDone, "warm to +4930123456, requested", "Order 7")
}

// TestRefusals: errors say what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	e := newExchange(t, func(*agent) {})
	noise := filepath.Join(t.TempDir(), "song.mp3")
	clitest.WriteFile(t, noise, "ID3")
	for words, want := range map[string]string{
		"--busy --answer":            "--busy and --reject do not answer",
		"--busy --reject":            "--busy and --reject do not answer",
		"--wait --to " + own:         "contradict",
		"--calls 2":                  "--calls is for --wait",
		"--pause -1s":                "negative",
		"--to " + own + " --machine": "nobody calls this phone",
		"--to 030":                   "parlance numbers ls",
		"--press 1x":                 "the keys of a telephone",
		"--wait --reason x":          "--reason is for a call that an agent makes",
		"--voice de":                 "--voice is for --say",
		"--play " + noise:            "ffmpeg",
		"--play none.wav":            "none.wav",
	} {
		e.call(strings.Fields(words)...).Wants(t, command.ExitUsage, want)
	}
	e.Run(t, "", "call", "0301234").Wants(t, command.ExitUsage, "country's code")
	e.call("--api-key", "prl_wrong").Wants(t, command.ExitFailed, "The API key is not known.")
	e.call("--base-url", e.url+"/elsewhere/v1").Wants(t, command.ExitFailed, "has no simulated line", "parlance dev")
	e.call("--base-url", "http://127.0.0.1:1/v1").Wants(t, command.ExitFailed, "nothing answers at http://127.0.0.1:1", "parlance dev")
	clitest.Execute(t, "", "call", "--help").Wants(t, command.ExitDone, "simulated line", "Examples:", "--wait", "--say", "--hang-up-after")
}

// person is a command with a keyboard.
type person struct {
	t      *testing.T
	keys   *io.PipeWriter
	out    *io.PipeReader
	said   bytes.Buffer
	code   chan int
	cancel context.CancelFunc
}

// person runs a command.
func (e *exchange) person(args ...string) *person {
	e.t.Helper()
	in, keys := io.Pipe()
	out, write := io.Pipe()
	ctx, cancel := context.WithCancel(e.t.Context())
	p := &person{t: e.t, keys: keys, out: out, code: make(chan int, 1), cancel: cancel}
	e.t.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = out.Close()
	})
	go func() {
		code := cli.Execute(ctx, cli.IO{In: in, Out: write, Err: write}, append(args, "--data-dir", e.DataDir))
		_ = write.Close()
		p.code <- code
	}()
	return p
}

// until reads what the command prints until it has printed a text, and the rest of its line.
func (p *person) until(text string) {
	p.t.Helper()
	from := p.said.Len()
	piece := make([]byte, 1)
	for {
		if _, err := p.out.Read(piece); err != nil {
			p.t.Fatalf("%q was not printed:\n%s", text, p.said.String())
		}
		p.said.Write(piece)
		if piece[0] == '\n' && strings.Contains(p.said.String()[from:], text) {
			return
		}
	}
}

// types types a line.
func (p *person) types(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, text+"\n"); err != nil {
		p.t.Error(err)
	}
}
