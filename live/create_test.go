package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := 5000
	made, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "u", TTLSeconds: &long,
		DynamicVariables: map[string]string{"name": "Ann", "secret__pin": "4711-pin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := made.Session
	if s.Status != sessions.Pending || s.Modality != sessions.Voice || s.AgentVersion != 1 || s.IdleTimeoutSeconds != 120 {
		t.Errorf("session %+v", s)
	}
	if got := s.TokenExpiresAt.Sub(s.CreatedAt); got != sessions.MaxTTL {
		t.Errorf("a ttl of 5000 s became %v", got)
	}
	for url, path := range map[string]string{made.VoiceURL: "voice", made.ChatURL: "chat"} {
		if want := "wss://talk.example/v1/realtime/" + path + "/" + string(s.ID) + "?token=" + made.Token; url != want {
			t.Errorf("url %q, want %q", url, want)
		}
	}
	var row []byte
	if err := f.db.NewRaw("SELECT to_jsonb(s)::text FROM sessions s WHERE id = ?", s.ID).Scan(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(row, []byte("4711-pin")) || bytes.Contains(row, []byte("secret__pin")) || !bytes.Contains(row, []byte("Ann")) {
		t.Errorf("stored %s", row)
	}
	again, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "u", DynamicVariables: map[string]string{"name": "Ann", "secret__pin": "4711-pin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if again.Session.VariablesHash == s.VariablesHash { // the token has it, and a short secret could be guessed from it
		t.Error("the same variables have the same hash twice")
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{LockedOverrides: []string{"first_message", "temperature", "tts", "retrieval"}})
	stranger, strange := f.tenant(t, "free")
	foreign := f.newAgent(t, strange, agents.Config{})
	many := map[string]string{}
	for i := range 65 {
		many[fmt.Sprintf("v%d", i)] = ""
	}
	short, none := 59, 0
	over := func(key, value string) func(*sessions.CreateParams) {
		return func(p *sessions.CreateParams) {
			p.Overrides = map[string]json.RawMessage{key: json.RawMessage(value)}
		}
	}
	voice := func(key, value string) func(*sessions.CreateParams) {
		return func(p *sessions.CreateParams) {
			p.VoiceStackOverride = map[string]json.RawMessage{key: json.RawMessage(value)}
		}
	}
	variable := func(name, value string) func(*sessions.CreateParams) {
		return func(p *sessions.CreateParams) { p.DynamicVariables = map[string]string{name: value} }
	}
	invalid := fault.InvalidRequest
	rows := []struct {
		name   string
		change func(*sessions.CreateParams)
		reason fault.Reason
		field  string
	}{
		{"unknown agent", func(p *sessions.CreateParams) { p.AgentID = "agt_nobody" }, fault.ResourceNotFound, ""},
		{"another tenant's agent", func(p *sessions.CreateParams) { p.AgentID = foreign.ID }, fault.ResourceNotFound, ""},
		{"no user", func(p *sessions.CreateParams) { p.UserID = "" }, invalid, "user_id"},
		{"modality", func(p *sessions.CreateParams) { p.Modality = "smell" }, invalid, "modality"},
		{"ttl 59", func(p *sessions.CreateParams) { p.TTLSeconds = &short }, invalid, "ttl_seconds"},
		{"ttl 0", func(p *sessions.CreateParams) { p.TTLSeconds = &none }, invalid, "ttl_seconds"},
		{"too many variables", func(p *sessions.CreateParams) { p.DynamicVariables = many }, invalid, "dynamic_variables"},
		{"long variable", variable("a", strings.Repeat("x", 4097)), invalid, `dynamic_variables["a"]`},
		{"NUL in a variable", variable("a", "x\x00"), invalid, `dynamic_variables["a"]`},
		{"variable's name", variable("1a", "x"), invalid, `dynamic_variables["1a"]`},
		{"system variable", variable("system__time_utc", "x"), invalid, `dynamic_variables["system__time_utc"]`},
		{"unknown override", over("prompt", `"x"`), invalid, "overrides.prompt"},
		{"voice key in overrides", over("stt", `{}`), invalid, "overrides.stt"},
		{"override's type", over("instructions", `7`), invalid, "overrides.instructions"},
		{"language that is none", over("language", `"xx"`), invalid, "overrides.language"},
		{"language of no tag", over("language", `"english, please"`), invalid, "overrides.language"},
		{"unknown language", over("language", `"und-CH"`), invalid, "overrides.language"},
		{"private language", over("language", `"x-ours"`), invalid, "overrides.language"},
		{"empty language", over("language", `""`), invalid, "overrides.language"},
		{"endless language", over("language", `"de-x-`+strings.Repeat("abcdefg-", 10)+`z"`), invalid, "overrides.language"},
		{"null override", over("language", `null`), invalid, "overrides.language"},
		{"temperature too high", over("model", `{"temperature":3}`), fault.OverrideNotAllowed, "overrides.model"},
		{"unknown field of model", over("model", `{"nmae":"x"}`), invalid, "overrides.model.nmae"},
		{"locked, under a name in capitals", over("model", `{"Temperature":1}`), invalid, "overrides.model.Temperature"},
		{"locked voice, under a name in capitals", over("voice", `{"TTS":{}}`), invalid, "overrides.voice.TTS"},
		{"model's name in capitals", over("model", `{"PROVIDER":"extractive"}`), invalid, "overrides.model.PROVIDER"},
		{"a letter that is folded", over("model", `{"fallbac\u212as":[]}`), invalid, "overrides.model.fallbac\u212as"},
		{
			"inside a list", over("model", `{"fallbacks":[{"provider":"extractive"},{"Name":"m"}]}`), invalid,
			"overrides.model.fallbacks[1].Name",
		},
		{"inside voice", over("voice", `{"vad":{"Threshold":0.1}}`), invalid, "overrides.voice.vad.Threshold"},
		{"locked", over("first_message", `"Hi"`), fault.OverrideNotAllowed, "overrides.first_message"},
		{"locked inside model", over("model", `{"name":"m","temperature":1}`), fault.OverrideNotAllowed, "overrides.model"},
		{"locked inside voice", over("voice", `{"tts":{}}`), fault.OverrideNotAllowed, "overrides.voice"},
		{"locked retrieval", over("retrieval", `{"top_k":1}`), fault.OverrideNotAllowed, "overrides.retrieval"},
		{"unknown voice override", voice("mouth", `{}`), invalid, "voice_stack_override.mouth"},
		{"unknown transcriber", voice("stt", `{"provider":"nope"}`), invalid, "voice_stack_override.stt"},
		{"transcriber's model", voice("stt", `{"model":5}`), invalid, "voice_stack_override.stt"},
		{"transcriber's keywords", voice("stt", `{"keywords":"Ada"}`), invalid, "voice_stack_override.stt"},
		{"transcriber's language", voice("stt", `{"language":"English please"}`), invalid, "voice_stack_override.stt"},
		{"synthesizer that transcribes", over("voice", `{"stt":{"provider":"elevenlabs"}}`), invalid, "overrides.voice"},
		{"voice activity", voice("vad", `{"threshold":5}`), invalid, "voice_stack_override.vad"},
		{"voice activity in capitals", voice("vad", `{"THRESHOLD":0.1}`), invalid, "voice_stack_override.vad.THRESHOLD"},
		{
			"turn detection in capitals", voice("turn_detection", `{"Type":"server_vad"}`), invalid,
			"voice_stack_override.turn_detection.Type",
		},
		{"transcriber in capitals", voice("stt", `{"Language":"de","hints":{"Language":1}}`), invalid, "voice_stack_override.stt.Language"},
		{"turn detection", voice("turn_detection", `{"type":"guess"}`), invalid, "voice_stack_override.turn_detection"},
		{"audio format", voice("input_audio_format", `"mp3"`), invalid, "voice_stack_override.input_audio_format"},
		{"locked voice", voice("tts", `{"voice":"x"}`), fault.OverrideNotAllowed, "voice_stack_override.tts"},
	}
	for _, row := range rows {
		params := sessions.CreateParams{AgentID: f.agent.ID, UserID: "u"}
		row.change(&params)
		_, err := f.Create(t.Context(), f.principal, params)
		decided := fault.From(err)
		if decided == nil || decided.Reason != row.reason {
			t.Errorf("%s: got %v, want %s", row.name, err, row.reason)
			continue
		}
		if row.field != "" && (len(decided.Fields) == 0 || decided.Fields[0].Field != row.field) {
			t.Errorf("%s: fields %+v, want %s", row.name, decided.Fields, row.field)
		}
	}
	restricted := f.principal
	restricted.WorkspaceID = "ws_other"
	_, err := f.Create(t.Context(), restricted, sessions.CreateParams{AgentID: f.agent.ID, UserID: "u"})
	wantReason(t, err, fault.ResourceNotFound)
	if list, _, err := f.List(t.Context(), f.principal, sessions.ListParams{}); err != nil || len(list) != 0 {
		t.Errorf("%d sessions were stored (%v)", len(list), err)
	}
	_, err = f.Get(t.Context(), stranger, f.create(t).Session.ID)
	wantReason(t, err, fault.ResourceNotFound)
}

func TestOverridesApply(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t, func(p *sessions.CreateParams) {
		p.Overrides = map[string]json.RawMessage{
			"instructions": json.RawMessage(`"Be brief."`), "language": json.RawMessage(`"DE-ch"`), "model": json.RawMessage(`"m-2"`),
			"temperature": json.RawMessage(`0.5`), "retrieval": json.RawMessage(`{"top_k":3}`),
			"voice": json.RawMessage(`{"tts":{"voice":"v"}}`),
		}
		p.VoiceStackOverride = map[string]json.RawMessage{"output_audio_format": json.RawMessage(`"g711_ulaw"`)}
	})
	s := f.get(t, made.Session.ID)
	c := s.Config
	if c.Instructions != "Be brief." || s.Language != "de-CH" || c.Model.Name != "m-2" || *c.Model.Temperature != 0.5 ||
		c.Retrieval.TopK != 3 ||
		c.Retrieval.Ranking != "hybrid" || !strings.Contains(string(c.Voice.TTS), `"v"`) || c.Voice.OutputAudioFormat != "g711_ulaw" {
		t.Errorf("config %+v, language %s", c, s.Language)
	}
}

// TestCreateSeesEachSave: a session is created with the agent as it was last saved, locked or
// deleted by another process, never with a cached one.
func TestCreateSeesEachSave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	elsewhere := agents.New(agents.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
	params := sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "u",
		Overrides: map[string]json.RawMessage{"language": json.RawMessage(`"de"`)},
	}
	f.create(t) // caches version 1
	save := func(change func(*agents.Config)) {
		t.Helper()
		if _, err := elsewhere.Update(t.Context(), f.ref, f.agent.ID, func(_ *string, c *agents.Config) { change(c) }); err != nil {
			t.Fatal(err)
		}
	}
	save(func(c *agents.Config) { c.FirstMessage = "Servus" })
	made, err := f.Create(t.Context(), f.principal, params)
	if err != nil || made.Session.AgentVersion != 2 || made.Session.Config.FirstMessage != "Servus" ||
		made.Session.Config.Language != "de" {
		t.Fatalf("got version %d with %+v (%v)", made.Session.AgentVersion, made.Session.Config, err)
	}
	save(func(c *agents.Config) { c.LockedOverrides = []string{"language"} })
	_, err = f.Create(t.Context(), f.principal, params)
	wantReason(t, err, fault.OverrideNotAllowed)
	save(func(c *agents.Config) { c.LockedOverrides = nil })
	if made, err = f.Create(t.Context(), f.principal, params); err != nil || made.Session.AgentVersion != 4 {
		t.Fatalf("got version %d (%v)", made.Session.AgentVersion, err)
	}
	stranger, _ := f.tenant(t, "pro")
	_, err = f.Create(t.Context(), stranger, params)
	wantReason(t, err, fault.ResourceNotFound)
	if err := elsewhere.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.Create(t.Context(), f.principal, params)
	wantReason(t, err, fault.ResourceNotFound)
}

// TestPlanIsExact creates fifty sessions at once on a plan with five places.
func TestPlanIsExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ref workspaces.Ref
	f.principal, ref = f.tenant(t, "free")
	f.agent = f.newAgent(t, ref, agents.Config{})
	var made, refused atomic.Int32
	var creating sync.WaitGroup
	for range 50 {
		creating.Go(func() {
			_, err := f.Create(t.Context(), f.principal, sessions.CreateParams{AgentID: f.agent.ID, UserID: "u"})
			switch {
			case err == nil:
				made.Add(1)
			case fault.IsReason(err, fault.QuotaSessions):
				refused.Add(1)
			default:
				t.Errorf("got %v", err)
			}
		})
	}
	creating.Wait()
	if made.Load() != 5 || refused.Load() != 45 {
		t.Fatalf("%d made, %d refused; want 5 and 45", made.Load(), refused.Load())
	}
	list, _, err := f.List(t.Context(), f.principal, sessions.ListParams{Status: sessions.Pending})
	if err != nil || len(list) != 5 {
		t.Fatalf("listed %d (%v)", len(list), err)
	}
	if _, err := f.End(t.Context(), f.principal, list[0].ID, sessions.EndParams{Status: sessions.Failed, Reason: "mistake"}); err != nil {
		t.Fatal(err)
	}
	f.turn(t, f.create(t).Session.ID, "in progress") // the place that was freed
	f.clock.advance(sessions.DefaultTTL)             // four pending ones expire, without a sweep
	for range 4 {
		f.create(t)
	}
	_, err = f.Create(t.Context(), f.principal, sessions.CreateParams{AgentID: f.agent.ID, UserID: "u"})
	wantReason(t, err, fault.QuotaSessions)
}
