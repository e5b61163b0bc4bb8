package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
)

// chatLine is a socket that a test talks over.
type chatLine struct {
	t    *testing.T
	conn *websocket.Conn
}

func dialChat(t *testing.T, url string) *chatLine {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{Subprotocols: []string{"realtime"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &chatLine{t, conn}
}

// say says something and returns the answer's response.done.
func (l *chatLine) say(text string) []byte {
	l.t.Helper()
	for _, event := range []any{
		map[string]any{"type": "conversation.item.create", "item": map[string]any{
			"type": "message", "role": "user",
			"content": []any{map[string]any{"type": "input_text", "text": text}},
		}},
		map[string]any{"type": "response.create"},
	} {
		encoded, err := json.Marshal(event)
		if err != nil {
			l.t.Fatal(err)
		}
		if err := l.conn.Write(l.t.Context(), websocket.MessageText, encoded); err != nil {
			l.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), harness.Patience)
	defer cancel()
	for {
		_, data, err := l.conn.Read(ctx)
		if err != nil {
			l.t.Fatal(err)
		}
		if bytes.Contains(data, []byte(`"type":"error"`)) {
			l.t.Fatalf("error event: %s", data)
		}
		if bytes.Contains(data, []byte(`"type":"response.done"`)) {
			return data
		}
	}
}

// killInReplay starts a server that has turns of the session to write, and kills it when Postgres
// has committed the first and the server has not heard of it: it is held at the commit and stopped
// there, then Postgres goes on.
func killInReplay(t *testing.T, env *harness.Env, database *pgtest.Server, session string) {
	t.Helper()
	const gate = `SELECT pg_advisory_lock(4711);
		CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION gate()`
	db, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	if _, err := db.Exec(t.Context(), gate); err != nil {
		t.Fatal(err)
	}
	shows := func(query string, arguments ...any) bool {
		var is bool
		err := db.QueryRow(t.Context(), query, arguments...).Scan(&is)
		return err == nil && is
	}
	server := env.StartProcess(t, "server")
	harness.Await(t, harness.Patience, "the server commits a turn", func() bool {
		return shows("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted)")
	})
	server.Pause()
	if !shows("SELECT pg_advisory_unlock(4711)") {
		t.Fatal("the lock is not ours")
	}
	harness.Await(t, harness.Patience, "the turn is committed", func() bool {
		return shows("SELECT count(*) = 1 FROM turns WHERE session_id = $1 AND spilled", session)
	})
	server.Kill()
	if _, err := db.Exec(t.Context(), "DROP TRIGGER gate ON turns; DROP FUNCTION gate"); err != nil {
		t.Fatal(err)
	}
}

// TestPostgresStopped stops the real Postgres in the middle of a conversation. The server goes on;
// it is killed with what it has kept; the next one is killed while it writes that; the one behind
// it finds what is written, writes the rest, and the conversation goes on there.
func TestPostgresStopped(t *testing.T) {
	t.Parallel()
	database := pgtest.NewServer(t)
	dir := filepath.Join(t.TempDir(), "spill")
	env := harness.Start(t, harness.Options{
		DatabaseURL: database.URL, WithoutServer: true, WithoutWorker: true,
		Settings: map[string]string{"PARLANCE_SPILL_DIR": dir, "DATABASE_URL": database.URL},
	})
	ready := func() {
		t.Helper()
		harness.Await(t, harness.Patience, "the server is ready", func() bool {
			answer, err := env.Send(t, "GET", "/readyz", nil)
			return err == nil && answer.Status == 200
		})
	}
	server := env.StartProcess(t, "server")
	ready()
	agent := env.Do(t, "POST", "/v1/workspaces/"+env.Tenant.WorkspaceID+"/agents", `{"name": "Ada"}`).Must(t, 201).Text("id")
	made := env.Do(t, "POST", "/v1/sessions", `{"agent_id": "`+agent+`", "user_id": "u", "modality": "text"}`).Must(t, 201)
	id, url := made.Text("id"), made.Text("chat_url")
	line := dialChat(t, url)
	line.say("What about refunds?")
	database.Stop()
	for _, text := range []string{"And the moon landing?", "And tomorrow's lunch?"} {
		if done := line.say(text); !bytes.Contains(done, []byte(`"status":"completed"`)) || !bytes.Contains(done, []byte("cannot be reached")) {
			t.Errorf("without Postgres %q was answered with %s", text, done)
		}
	}
	kept := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		kept += len(content)
		for _, word := range []string{"moon", "lunch", "reached", id, env.Tenant.ID} {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%q can be read in %s", word, path)
			}
		}
		return err
	})
	if err != nil || kept < 1000 {
		t.Errorf("%d bytes are kept, %v", kept, err)
	}
	server.Kill()
	database.Start()
	killInReplay(t, env, database, id)
	env.StartProcess(t, "server")
	env.StartProcess(t, "worker")
	ready()
	transcript := func() string {
		var short []string
		for _, turn := range env.Do(t, "GET", "/v1/sessions/"+id+"/transcript", nil).Must(t, 200).List("turns") {
			line := fmt.Sprint(harness.Path(turn, "user_text"), " ", harness.Path(turn, "status"))
			if harness.Path(turn, "spilled") == true {
				line += " spilled"
			}
			short = append(short, line)
		}
		return strings.Join(short, "; ")
	}
	want := "What about refunds? completed; And the moon landing? completed spilled; And tomorrow's lunch? completed spilled"
	harness.Await(t, harness.Patience, "the turns that were kept", func() bool { return transcript() == want })
	dialChat(t, url).say("Still there?")
	if got := transcript(); got != want+"; Still there? completed" {
		t.Errorf("transcript %s", got)
	}
	env.Do(t, "POST", "/v1/sessions/"+id+"/end", `{"status": "completed"}`).Must(t, 200)
	feed := func() string {
		return string(env.Do(t, "GET", env.Tenant.In("/events?events=turn.persistence_failed"), nil).Must(t, 200).Body)
	}
	harness.Await(t, harness.Patience, "the events", func() bool { return strings.Count(feed(), `"recovered"`) == 2 })
	harness.Await(t, harness.Patience, "an empty spill", func() bool {
		logs, err := filepath.Glob(filepath.Join(dir, "*", "key"))
		return err == nil && len(logs) == 2 // of this test's process and of the server that lives
	})
	if got := strings.Count(feed(), `"recovered"`); got != 2 {
		t.Errorf("%d events of turns that were kept", got)
	}
}

// TestFirstAnswerWithoutPostgres stops Postgres before the first answer of two sessions. The first
// is answered by the installation's model: a turn on this server has found that its workspace has
// no provider key. The workspace of the second has one, which cannot be read.
func TestFirstAnswerWithoutPostgres(t *testing.T) {
	t.Parallel()
	database := pgtest.NewServer(t)
	installed, own := openaichat.New(t), openaichat.NewWithKey(t, ownKey)
	env := harness.Start(t, harness.Options{DatabaseURL: database.URL, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_SPILL_DIR":      filepath.Join(t.TempDir(), "spill"),
		"PARLANCE_MODEL_BASE_URL": installed.BaseURL, "PARLANCE_MODEL_NAME": "installed-model",
	}})
	keyed := env.Do(t, "POST", "/v1/workspaces", `{"name": "keyed"}`).Must(t, 201).Text("id")
	env.Do(t, "POST", "/v1/workspaces/"+keyed+"/provider-credentials",
		`{"kind": "model", "provider": "openai", "base_url": "`+own.BaseURL+`", "api_key": "`+ownKey+`"}`).Must(t, 201)
	join := func(workspace string) *chatLine {
		agent := env.Do(t, "POST", "/v1/workspaces/"+workspace+"/agents", `{"name": "Ada"}`).Must(t, 201).Text("id")
		made := env.Do(t, "POST", "/v1/sessions", `{"agent_id": "`+agent+`", "user_id": "u", "modality": "text"}`).Must(t, 201)
		line := dialChat(t, made.Text("chat_url"))
		if _, data, err := line.conn.Read(t.Context()); err != nil || !bytes.Contains(data, []byte(`"type":"session.created"`)) {
			t.Fatalf("the first event is %s, %v", data, err)
		}
		return line
	}
	join(env.Tenant.WorkspaceID).say("Hello?")
	unkeyed, withKey := join(env.Tenant.WorkspaceID), join(keyed)
	database.Stop()
	defer database.Start()
	if done := unkeyed.say("Hello?"); !bytes.Contains(done, []byte(`"status":"completed"`)) {
		t.Errorf("without keys of the workspace's own: %s", done)
	}
	if done := withKey.say("Hello?"); !bytes.Contains(done, []byte(`"status":"failed"`)) || !bytes.Contains(done, []byte(`"unavailable"`)) {
		t.Errorf("with a key that cannot be read: %s", done)
	}
	if asked := len(installed.Requests()); asked != 2 || len(own.Requests()) != 0 {
		t.Errorf("the installation's model was asked %d times, the workspace's %d times", asked, len(own.Requests()))
	}
}
