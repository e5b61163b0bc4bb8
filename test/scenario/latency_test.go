package scenario

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/test/fake/speechopenai"
	"parlance.dev/parlance/test/harness"
)

// TestSpokenTurnIsMeasured: of a spoken question the turn has the times of its answer, the agent
// has their percentiles, and the minutes, seconds and characters are in the usage.
func TestSpokenTurnIsMeasured(t *testing.T) {
	t.Parallel()
	server := speechopenai.New(t, installationKey)
	server.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: "Hello there."} }
	s := newSpeechEnv(t, true, map[string]string{
		"PARLANCE_STT_BASE_URL": server.BaseURL, "PARLANCE_STT_API_KEY": installationKey, "PARLANCE_STT_TIMEOUT": "2m",
	})
	agent := s.Do(t, "POST", s.Tenant.In("/agents"), `{"name":"Ada","first_message":"Welcome."}`).Must(t, 201).Text("id")
	made := s.Do(t, "POST", "/v1/sessions", map[string]string{"agent_id": agent, "user_id": "u"}).Must(t, 201)
	timing := s.speakTo(t, made.Text("ws_url"))

	var turn harness.Response
	harness.Await(t, harness.Patience, "the turn has the times of its answer", func() bool {
		turn = s.Do(t, "GET", "/v1/sessions/"+made.Text("id")+"/transcript", nil).Must(t, 200)
		return turn.At("turns", 1, "metrics", "speech") != nil
	})
	if turn.At("turns", 0, "metrics", "speech") != nil {
		t.Errorf("the greeting answers no speech: %s", turn.Body)
	}
	for sent, kept := range map[string]string{
		"endpoint_ms": "endpointing_ms", "transcript_ms": "transcript_ms", "first_token_ms": "first_token_ms", "first_audio_ms": "first_audio_ms",
	} {
		if got := turn.At("turns", 1, "metrics", "speech", kept); got != timing[sent] || got == 0.0 {
			t.Errorf("%s is %v, and the client was told %v", kept, got, timing[sent])
		}
	}
	latency := s.Do(t, "GET", s.Tenant.In("/agents/"+agent+"/latency"), nil).Must(t, 200)
	stage := latency.At("stages", 3)
	if harness.Path(stage, "stage") != "first_audio" || harness.Path(stage, "p95_ms") != timing["first_audio_ms"] ||
		harness.Path(stage, "answers") != 1.0 {
		t.Errorf("the agent's latency: %s", latency.Body)
	}
	quantity := func(meter string) int {
		return harness.Rows[int](t, s.Env, "SELECT coalesce(sum(quantity), 0)::int FROM usage_records WHERE tenant_id = $1 AND meter = $2",
			s.Tenant.ID, meter)[0]
	}
	harness.Await(t, harness.Patience, "what was used is counted", func() bool {
		return quantity("voice_minutes") > 0 && quantity("speech_seconds") > 0 && quantity("speech_characters") > len("Welcome.")
	})
	if seconds := quantity("speech_seconds"); seconds > 4 {
		t.Errorf("%d s of a short sentence are counted", seconds)
	}
}

// speakTo says a sentence on a voice socket, and returns the parlance.timing of its answer once the
// answer was said.
func (s speechEnv) speakTo(t *testing.T, url string) (timing map[string]any) {
	t.Helper()
	sound := s.spoken(t, "Hello there, how are you today?") // before the agent waits for it
	conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{Subprotocols: []string{"realtime"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	done := 0
	for done < 2 {
		_, frame, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		event := map[string]any{}
		if err := json.Unmarshal(frame, &event); err != nil {
			t.Fatal(err)
		}
		switch event["type"] {
		case "parlance.timing":
			timing = event
		case "response.done":
			if done++; done == 2 {
				break
			}
			append := fmt.Sprintf(`{"type":"input_audio_buffer.append","audio":%q}`, sound) // at once: a break would end the sentence
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(append)); err != nil {
				t.Fatal(err)
			}
		case "error":
			t.Fatalf("%s", frame)
		}
	}
	return timing
}

// spoken is a sentence at 24 kHz, in base64.
func (s speechEnv) spoken(t *testing.T, text string) string {
	t.Helper()
	stack := s.stack(t, ``, ``, "en")
	asked := stack.Speech
	asked.Text = text
	var samples []int16
	err := stack.Synthesizer.Speak(t.Context(), asked, func(p speech.Piece) error {
		resampler, err := audio.NewResampler(p.Rate, 24000)
		if err != nil {
			return err
		}
		samples = resampler.AppendFlush(resampler.AppendResample(samples, p.Samples))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(audio.Default.AppendEncode(nil, samples))
}

// TestAgentLatency: percentiles of an agent's answers are those of its completed turns in the
// period, and of nobody else's.
func TestAgentLatency(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	path := env.Tenant.In("/agents/" + agent + "/latency")
	if none := env.Do(t, "GET", path, nil).Must(t, 200); none.At("answers") != 0.0 || len(none.List("stages")) != 0 {
		t.Errorf("an agent that has answered nobody: %s", none.Body)
	}
	ask := func(id string) string {
		body := map[string]string{"agent_id": id, "user_id": "u", "modality": "text"}
		session := env.Do(t, "POST", "/v1/sessions", body).Must(t, 201).Text("id")
		env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`).Must(t, 200)
		return session
	}
	session := ask(agent)
	other := ask(env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Bob"}`).Must(t, 201).Text("id"))
	env.Exec(t, `UPDATE turns SET metrics = '{"total_ms": 77777}' WHERE session_id = $1`, other)
	// Turns that took 1 to 200 ms; those of the second hundred did not end well.
	env.Exec(t, `INSERT INTO turns (id, tenant_id, workspace_id, session_id, index, user_text, agent_text, status, messages, citations,
			model, metrics, speech, started_at, ended_at)
		SELECT id || n, tenant_id, workspace_id, session_id, n, user_text, agent_text,
			CASE WHEN n > 100 THEN 'failed' ELSE 'completed' END, messages, citations, model,
			jsonb_build_object('total_ms', n, 'tools_ms', CASE WHEN n > 90 THEN 5 ELSE 0 END,
				'tool_rounds', CASE WHEN n > 90 THEN 1 ELSE 0 END),
			CASE WHEN n <= 10 THEN jsonb_build_object('first_audio_ms', 10 * n) END, started_at, ended_at
		FROM turns, generate_series(1, 200) AS n WHERE session_id = $1`, session)
	env.Exec(t, `DELETE FROM turns WHERE session_id = $1 AND index = 0`, session)

	got := env.Do(t, "GET", path, nil).Must(t, 200)
	var rows []string
	for _, stage := range got.List("stages") {
		row := fmt.Sprint(harness.Path(stage, "stage"))
		for _, of := range []string{"answers", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms"} {
			row += fmt.Sprint(" ", harness.Path(stage, of))
		}
		rows = append(rows, row)
	}
	want := "first_audio 10 10 50 90 100 100 100\ntools 10 5 5 5 5 5 5\ntotal 100 1 50 90 95 99 100"
	if strings.Join(rows, "\n") != want || got.At("answers") != 100.0 {
		t.Errorf("%v answers:\n%s\nwant\n%s", got.At("answers"), strings.Join(rows, "\n"), want)
	}
	for query, answers := range map[string]float64{
		"?agent_version=1": 100, "?agent_version=2": 0, "?until=2020-01-01T00:00:00Z": 0, "?since=2020-01-01T00:00:00Z": 100,
		"?since=2999-01-01T00:00:00Z": 0,
	} {
		if got := env.Do(t, "GET", path+query, nil).Must(t, 200).At("answers"); got != answers {
			t.Errorf("%s: %v answers, want %v", query, got, answers)
		}
	}
	env.Exec(t, `UPDATE sessions SET created_at = created_at - interval '8 days' WHERE id = $1`, session)
	if got := env.Do(t, "GET", path, nil).Must(t, 200).At("answers"); got != 0.0 {
		t.Errorf("%v answers of before the last seven days", got)
	}
	stranger := env.NewTenant(t, "")
	if got := env.Do(t, "GET", path, nil, harness.Key(stranger.Read)); got.Status != 404 {
		t.Errorf("a stranger got %d", got.Status)
	}
	env.Do(t, "GET", env.Tenant.In("/agents/agt_none/latency"), nil).Must(t, 404)
}
