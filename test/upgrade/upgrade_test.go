package upgrade

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/sqlmigrations"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
)

var record = flag.String("record", "", "record this version, e.g. 0.2.0, before the test")

// testdata is where the recordings are.
var testdata = filepath.Join("..", "..", "sqlmigrations", "testdata")

// TestUpgrade starts from each released version.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	if *record != "" {
		recordVersion(t, *record)
	}
	dumps, err := filepath.Glob(filepath.Join(testdata, "*.sql"))
	if err != nil || len(dumps) == 0 {
		t.Fatalf("there are no dumps in %s (%v)", testdata, err)
	}
	for _, dump := range dumps {
		version := strings.TrimSuffix(filepath.Base(dump), ".sql")
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			url := pgtest.NewWith(t, pgtest.Empty{}).URL
			load(t, url, dump)
			if err := sqlmigrations.Up(t.Context(), url); err != nil {
				t.Fatalf("migrating %s: %v", version, err)
			}
			if diff := cmp.Diff(pgtest.Describe(t, pgtest.New(t).URL), pgtest.Describe(t, url)); diff != "" {
				t.Errorf("the migrated schema is not the new one (-new +migrated):\n%s", diff)
			}
			rejuvenate(t, url)
			asBefore(t, url, version)
		})
	}
}

// load runs a dump on an empty database.
func load(t *testing.T, url, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run(t, url, string(text))
}

// rejuvenate makes what is believed for a day only as new as it was when it was recorded: the list
// of an MCP server, which nobody can ask any more.
func rejuvenate(t *testing.T, url string) {
	t.Helper()
	run(t, url, "UPDATE mcp_discoveries SET listed_at = now()")
}

func run(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // another connection goes on
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("running %.60s…: %v", sql, err)
	}
}

// asBefore serves the database and asks what was asked when it was recorded.
func asBefore(t *testing.T, url, version string) {
	t.Helper()
	was := readRecording(t, version)
	endpoint := httptool.New(t)
	// Without a worker: what is old may be deleted, and is meant to be.
	e := harness.Start(t, harness.Options{DatabaseURL: url, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MASTER_KEY_FILE": masterKey(t),
		"PARLANCE_BLOB_URL":        "file://" + copyOf(t, filepath.Join(testdata, version+".blobs")),
	}})
	key := harness.Key(was.Key)
	for path, body := range was.Answers {
		now := e.Do(t, http.MethodGet, path, nil, key)
		if now.Status != http.StatusOK {
			t.Errorf("GET %s answers %d %s", path, now.Status, now.Body)
			continue
		}
		if lost := missing(decode(t, body), decode(t, now.Body), ""); lost != "" {
			t.Errorf("GET %s: %s\nwas %s\nnow %s", path, lost, body, now.Body)
		}
	}
	tool := "/v1/workspaces/" + was.WorkspaceID + "/tools/" + was.ToolID
	// In the database: over the API an address cannot change without the secret being given again.
	harness.Rows[string](t, e, `UPDATE tools SET config = jsonb_set(config, '{webhook_url}', to_jsonb('`+endpoint.URL+`/sealed'::text))
		WHERE id = '`+was.ToolID+`' RETURNING id::text`)
	e.Do(t, http.MethodPost, tool+"/run", map[string]any{"args": map[string]any{}}, key).Must(t, http.StatusOK)
	requests := endpoint.Requests("/sealed")
	if len(requests) != 1 || requests[0].Header.Get("Authorization") != was.ToolSecret {
		t.Errorf("the tool's endpoint got %+v, want its secret", requests)
	}
	session := e.Do(t, http.MethodPost, "/v1/sessions", map[string]any{
		"agent_id": was.AgentID, "user_id": "new",
		"modality": "text",
	}, key).Must(t, http.StatusCreated)
	answer := e.Do(t, http.MethodPost, "/v1/sessions/"+session.Text("id")+"/turns",
		map[string]any{"text": "How long does a refund take?"}, key).Must(t, http.StatusOK)
	if !strings.Contains(answer.Text("text"), "fourteen days") {
		t.Errorf("the old document does not answer: %s", answer.Body)
	}
}

// replaced says whether a field is of one of the memory-managed tools, which earlier versions
// listed and did not have.
func replaced(was map[string]any, field string) bool {
	tool := was
	if inner, ok := was["tool"].(map[string]any); ok {
		tool = inner
	}
	return tool["bucket"] == "memory" && (field == "input_schema" || field == "description" || field == "disabled_reason")
}

// missing says what of was is not in now; "" when all of it is. Members may have come; the last use
// of a key goes on, and page tokens and cursors are nobody's to compare.
func missing(was, now any, at string) string {
	switch was := was.(type) {
	case map[string]any:
		object, ok := now.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for name, value := range was {
			if name == "last_used_at" || name == "next_page_token" || name == "cursor" || replaced(was, name) {
				continue
			}
			if lost := missing(value, object[name], at+"."+name); lost != "" {
				return lost
			}
		}
	case []any:
		list, ok := now.([]any)
		if !ok || len(list) != len(was) {
			return fmt.Sprintf("%s had %d elements", at, len(was))
		}
		for i := range was {
			if lost := missing(was[i], list[i], fmt.Sprintf("%s[%d]", at, i)); lost != "" {
				return lost
			}
		}
	default:
		if !reflect.DeepEqual(was, now) {
			return fmt.Sprintf("%s was %v and is %v", at, was, now)
		}
	}
	return ""
}

func decode(t *testing.T, body []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func readRecording(t *testing.T, version string) (was Recording) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata, version+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	return was
}

// masterKey is the recordings' master key, as a file that only we may read.
func masterKey(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// copyOf copies a directory to one that the test may write to.
func copyOf(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
