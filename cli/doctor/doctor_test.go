package doctor_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
)

// installation is the environment of a deployment in which every check passes.
type installation map[string]string

func install(t *testing.T) installation {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "master.key")
	if err := errors.Join(seal.NewMasterKeyFile(key), os.MkdirAll(filepath.Join(dir, "blobs"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return installation{
		"DATABASE_URL": pgtest.New(t).URL, "REDIS_URL": redistest.New(t),
		"PARLANCE_BLOB_URL": "file://" + filepath.Join(dir, "blobs"), "PARLANCE_MASTER_KEY_FILE": key,
	}
}

// with returns a copy with other values; an empty value unsets a variable.
func (in installation) with(pairs ...string) installation {
	changed := installation{}
	for name, value := range in {
		changed[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		changed[pairs[i]] = pairs[i+1]
	}
	return changed
}

// examine checks one area.
func (in installation) examine(t *testing.T, area string, change func(*doctor.Deps)) []doctor.Finding {
	t.Helper()
	config, err := app.Load(app.Source{ReadFile: os.ReadFile, LookupEnv: func(name string) (string, bool) {
		value, ok := in[name]
		return value, ok
	}})
	deps := doctor.Deps{Config: config, Processes: 2, Now: time.Now, Nonce: rand.Text}
	if err != nil {
		deps.Problems = []error{err}
	}
	for name, value := range in {
		deps.Environ = append(deps.Environ, name+"="+value)
	}
	if change != nil {
		change(&deps)
	}
	areas := slices.DeleteFunc(doctor.Areas(), func(a doctor.Area) bool { return a.Name != area })
	var found []doctor.Finding
	doctor.Run(t.Context(), deps, areas, func(_ doctor.Area, findings []doctor.Finding) { found = findings })
	for _, finding := range found {
		unwell := finding.Status == doctor.Warning || finding.Status == doctor.Failed
		if unwell != (finding.Advice != "") {
			t.Errorf("%s %s: status %s, advice %q", finding.Area, finding.Check, finding.Status, finding.Advice)
		}
	}
	return found
}

// wants requires a finding with that check, status and text, and returns its advice.
func wants(t *testing.T, findings []doctor.Finding, check string, status doctor.Status, text string) string {
	t.Helper()
	for _, finding := range findings {
		if finding.Check == check && finding.Status == status && strings.Contains(finding.Detail, text) {
			return finding.Advice
		}
	}
	t.Errorf("no finding %q %s with %q in %+v", check, status, text, findings)
	return ""
}

// wantsNothingWorse requires that no finding is worse than a status.
func wantsNothingWorse(t *testing.T, findings []doctor.Finding, than doctor.Status) {
	t.Helper()
	for _, finding := range findings {
		if finding.Status == doctor.Failed || finding.Status == doctor.Warning && than == doctor.OK {
			t.Errorf("%+v", finding)
		}
	}
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	in := install(t)
	for _, area := range []string{
		"settings", "postgres", "redis", "bucket", "spill", "master-key", "outbound",
		"machine", "model", "embedder", "reranker", "documents", "speech",
	} {
		wantsNothingWorse(t, in.examine(t, area, nil), doctor.Warning)
	}
	wants(t, in.examine(t, "postgres", nil), "listen", doctor.OK, "")
	wants(t, in.examine(t, "master-key", nil), "opens", doctor.OK, "nothing has been sealed")
	wants(t, in.examine(t, "work", nil), "workers", doctor.Failed, "no worker")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	in := install(t).with("PARLANCE_DATABASE_MAX_CONNS", "many", "PARLANCE_CORS_ORIGIN", "https://app.example",
		"PARLANCE_EGRESS_ALLOW_CIDRS", "10.0.0.0/8", "PARLANCE_EGRESS_DENY_CIDRS", "10.9.0.0/16",
		"PARLANCE_PLANS_FILE", "/no/such/file", "PARLANCE_CORS_ORIGINS", "*")
	found := in.examine(t, "settings", nil)
	wants(t, found, "values", doctor.Failed, "PARLANCE_DATABASE_MAX_CONNS")
	wants(t, found, "names", doctor.Warning, "PARLANCE_CORS_ORIGIN is set")
	wants(t, found, "egress", doctor.Warning, "10.0.0.0/8")
	wants(t, found, "egress-denied", doctor.OK, "10.9.0.0/16")
	wants(t, found, "cors", doctor.Warning, "any origin")
	wants(t, found, "plans", doctor.Failed, "/no/such/file")
}

// TestPostgres breaks a real database in several ways.
func TestPostgres(t *testing.T) {
	t.Parallel()
	in := install(t)
	empty := pgtest.NewWith(t, pgtest.Empty{}).URL
	bare := pgtest.NewWith(t, pgtest.Empty{}).URL
	execute(t, bare, "DROP EXTENSION IF EXISTS vector CASCADE")
	readOnly := pgtest.New(t).URL
	execute(t, readOnly, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$")
	ahead := pgtest.New(t).URL
	execute(t, ahead, "INSERT INTO bun_migrations (name, group_id, migrated_at) VALUES ('9999', 99, now())")
	for name, row := range map[string]struct {
		url, check string
		status     doctor.Status
		text       string
	}{
		"no URL":        {"postgres://[::1:5432/x", "reach", doctor.Failed, "cannot be read"},
		"a / in it":     {"postgres://parlance:hunter2/x@127.0.0.1:1/x", "reach", doctor.Failed, "%2F"},
		"nobody there":  {"postgres://parlance:hunter2@127.0.0.1:1/parlance", "reach", doctor.Failed, "refused"},
		"no database":   {databaseNamed(t, in["DATABASE_URL"], "no_such_database"), "reach", doctor.Failed, "3D000"},
		"no such role":  {withQuery(t, in["DATABASE_URL"], "user", "nobody_here"), "reach", doctor.Failed, "28000"},
		"not migrated":  {empty, "schema", doctor.Failed, "lacks"},
		"no extension":  {bare, "pgvector", doctor.Failed, "not in this database"},
		"read only":     {readOnly, "writable", doctor.Failed, "read-only"},
		"newer schema":  {ahead, "schema", doctor.Warning, "1 migrations ahead"},
		"as it must be": {in["DATABASE_URL"], "schema", doctor.OK, "all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := in.with("DATABASE_URL", row.url).examine(t, "postgres", nil)
			wants(t, found, row.check, row.status, row.text)
			for _, finding := range found {
				if strings.Contains(finding.Detail+finding.Advice, "hunter2") {
					t.Errorf("the password is shown: %+v", finding)
				}
			}
		})
	}
}

func TestPostgresConnectionsAndClock(t *testing.T) {
	t.Parallel()
	in := install(t)
	found := in.examine(t, "postgres", func(d *doctor.Deps) {
		d.Processes = 100
		d.Now = func() time.Time { return time.Now().Add(-time.Hour - time.Second) }
	})
	wants(t, found, "connections", doctor.Warning, "100 processes")
	wants(t, found, "clock", doctor.Failed, "are 1h0m")
}

// TestMasterKey encrypts with one key and checks with others.
func TestMasterKey(t *testing.T) {
	t.Parallel()
	in := install(t)
	sealSomething(t, in)
	wants(t, in.examine(t, "master-key", nil), "opens", doctor.OK, "it opens what is stored")

	dir := t.TempDir()
	other := filepath.Join(dir, "other.key")
	if err := seal.NewMasterKeyFile(other); err != nil {
		t.Fatal(err)
	}
	wants(t, in.with("PARLANCE_MASTER_KEY_FILE", other).examine(t, "master-key", nil), "opens", doctor.Failed, "")
	if err := os.Chmod(other, 0o644); err != nil {
		t.Fatal(err)
	}
	advice := wants(t, in.with("PARLANCE_MASTER_KEY_FILE", other).examine(t, "master-key", nil), "mode", doctor.Warning, "0644")
	if !strings.Contains(advice, "chmod 0600 "+other) {
		t.Errorf("advice %q", advice)
	}
	missing := in.with("PARLANCE_MASTER_KEY_FILE", filepath.Join(dir, "none")).examine(t, "master-key", nil)
	wants(t, missing, "file", doctor.Failed, "does not exist")
	broken := filepath.Join(dir, "broken.key")
	if err := os.WriteFile(broken, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, in.with("PARLANCE_MASTER_KEY_FILE", broken).examine(t, "master-key", nil), "opens", doctor.Failed, "")
}

func TestBucket(t *testing.T) {
	t.Parallel()
	in := install(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, in.with("PARLANCE_BLOB_URL", "file://"+file).examine(t, "bucket", nil), "reach", doctor.Failed, "not a directory")
	wants(t, in.with("PARLANCE_BLOB_URL", "file:///proc/none").examine(t, "bucket", nil), "reach", doctor.Failed, "")
	away := in.with("PARLANCE_BLOB_URL", "s3://files?endpoint=http://127.0.0.1:1").
		with("PARLANCE_S3_ACCESS_KEY_ID", "id").with("PARLANCE_S3_SECRET_ACCESS_KEY", "secret")
	wants(t, away.examine(t, "bucket", nil), "reach", doctor.Failed, "http://127.0.0.1:1 cannot be reached")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o755), os.Chmod(open, 0o755)); err != nil {
		t.Fatal(err)
	}
	found := in.with("PARLANCE_BLOB_URL", "file://"+open).examine(t, "bucket", nil)
	wants(t, found, "mode", doctor.Warning, open)
	wants(t, found, "write", doctor.OK, "")
	entries, err := filepath.Glob(filepath.Join(open, "doctor", "*"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestBacklog: work that waits too long is reported with its age.
func TestBacklog(t *testing.T) {
	t.Parallel()
	in := install(t)
	execute(t, in["DATABASE_URL"], "INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES ('ten_x', 'x', 'free', now(), now())")
	execute(t, in["DATABASE_URL"], `INSERT INTO events (tenant_id, event_id, workspace_id, type, body, created_at)
		VALUES ('ten_x', 'evt_x', '', '_x', '{}', now() - interval '1 hour')`)
	wants(t, in.examine(t, "work", nil), "events", doctor.Warning, "1 events have not been relayed, the oldest since 1h0m")
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// sealSomething encrypts data in a database, as the start of a server does.
func sealSomething(t *testing.T, in installation) {
	t.Helper()
	masters, err := seal.LoadMasters(in["PARLANCE_MASTER_KEY_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), postgres.Config{URL: in["DATABASE_URL"], MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	keyring, err := seal.New(seal.Deps{DB: db, Masters: masters, Now: time.Now})
	if err == nil {
		err = keyring.Check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
