package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/test/sealtest"
)

// The settings of master keys.
const (
	masterKeyFile     = "PARLANCE_MASTER_KEY_FILE"
	previousKeyFiles  = "PARLANCE_MASTER_KEY_PREVIOUS_FILES"
	rotatedDataKeys   = 120
	toolAuthorization = "Bearer sealed-4711-and-opened"
)

// rotation is an installation whose master key is being changed.
type rotation struct {
	*harness.Env
	oldFile, newFile string
	shop             *httptool.Server
	tool             string
}

func newRotation(t *testing.T) *rotation {
	t.Helper()
	dir := t.TempDir()
	r := &rotation{oldFile: filepath.Join(dir, "old.key"), newFile: filepath.Join(dir, "new.key"), shop: httptool.New(t)}
	for path, letter := range map[string]string{r.oldFile: "o", r.newFile: "n"} {
		if err := os.WriteFile(path, []byte(sealtest.Key(letter)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Env = harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{masterKeyFile: r.oldFile}})
	r.tool = r.Do(t, "POST", r.Tenant.In("/tools"), map[string]string{
		"slug": "shop", "description": "d", "kind": "http", "webhook_url": r.shop.URL + "/x", "auth_header": toolAuthorization,
	}).Must(t, 201).Text("id")
	r.makeDataKeys(t)
	return r
}

// makeDataKeys gives the installation as many data keys as many tenants would.
func (r *rotation) makeDataKeys(t *testing.T) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: r.DatabaseURL, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // nothing is in flight
	masters, err := seal.LoadMasters(r.oldFile)
	if err != nil {
		t.Fatal(err)
	}
	keyring, err := seal.New(seal.Deps{DB: db, Masters: masters})
	if err != nil {
		t.Fatal(err)
	}
	for range rotatedDataKeys {
		if err := keyring.RotateDataKey(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// server is a process beside the others with these master keys, ready to answer.
func (r *rotation) server(t *testing.T, current, previous string) *harness.Env {
	t.Helper()
	address := port.Reserve(t)
	beside := r.With(map[string]string{
		"PARLANCE_LISTEN": address, "PARLANCE_PUBLIC_URL": "http://" + address,
		masterKeyFile: current, previousKeyFiles: previous,
	})
	beside.URL = "http://" + address
	beside.StartProcess(t, "server")
	harness.Await(t, harness.Patience, "the server answers", func() bool {
		answer, err := beside.Send(t, "GET", "/readyz", nil)
		return err == nil && answer.Status == 200
	})
	return beside
}

// use seals a secret and opens it again, through a server.
func (r *rotation) use(t *testing.T, through *harness.Env) error {
	t.Helper()
	path := r.Tenant.In("/tools/" + r.tool)
	changed, err := through.Send(t, "PATCH", path, map[string]string{"auth_header": toolAuthorization})
	if err != nil || changed.Status != 200 {
		return fmt.Errorf("sealing: %d %s, %w", changed.Status, changed.Body, err)
	}
	before := len(r.shop.Requests("/x"))
	ran, err := through.Send(t, "POST", path+"/run", `{}`)
	if err != nil || ran.Status != 200 || ran.At("error") != nil {
		return fmt.Errorf("opening: %d %s, %w", ran.Status, ran.Body, err)
	}
	if arrived := r.shop.Requests("/x")[before]; arrived.Header.Get("Authorization") != toolAuthorization {
		return fmt.Errorf("the tool got %q", arrived.Header.Get("Authorization"))
	}
	return nil
}

// command runs `parlance keys rotate-master` with these master keys.
func (r *rotation) command(t *testing.T, current, previous string, more ...string) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{"keys", "rotate-master", "--database-url", r.DatabaseURL, "--master-key-file", current}, more...)
	if previous != "" {
		args = append(args, "--master-key-previous-files", previous)
	}
	code = cli.Execute(t.Context(), cli.IO{In: strings.NewReader(""), Out: &out, Err: &out}, args)
	return code, out.String()
}

// wrappedBy is how many data keys do not belong to the current master key any more or yet.
func (r *rotation) wrappedBy(t *testing.T, file string) int {
	t.Helper()
	masters, err := seal.LoadMasters(file)
	if err != nil {
		t.Fatal(err)
	}
	return harness.Rows[int](t, r.Env, "SELECT count(*)::int FROM data_keys WHERE master_key_id = $1", masters.IDs()[0])[0]
}

// TestRotateMasterKey changes the master key under load. The command is killed when all data keys
// but one are done, run again, and afterwards the old key is gone.
func TestRotateMasterKey(t *testing.T) {
	t.Parallel()
	r := newRotation(t)
	serving := r.server(t, r.newFile, r.oldFile)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	uses := 0
	load.Go(func() {
		for ; ctx.Err() == nil; uses++ {
			if err := r.use(t, serving); err != nil {
				t.Error(err)
			}
		}
	})

	// The first server runs on with the old key alone.
	if code, output := r.command(t, r.newFile, r.oldFile); code != 1 || !strings.Contains(output, "nothing was changed") {
		t.Errorf("beside a server without the new key: %d %s", code, output)
	}
	release := r.holdLast(t)
	killed := r.With(map[string]string{masterKeyFile: r.newFile, previousKeyFiles: r.oldFile}).StartProcess(t,
		"keys", "rotate-master", "--force")
	harness.Await(t, harness.Patience, "all data keys but the last are moved", func() bool { return r.wrappedBy(t, r.oldFile) == 1 })
	killed.Kill()
	release()
	if n := r.wrappedBy(t, r.oldFile); n != 1 {
		t.Errorf("%d data keys are left, want the one that was held", n)
	}
	code, output := r.command(t, r.newFile, r.oldFile, "--force")
	if code != 0 || !strings.Contains(output, "wraps nothing any more") || r.wrappedBy(t, r.oldFile) != 0 {
		t.Errorf("the second run: %d %s", code, output)
	}
	stop()
	load.Wait()
	if uses == 0 {
		t.Error("nothing was sealed and opened meanwhile")
	}
	if err := r.use(t, r.server(t, r.newFile, "")); err != nil {
		t.Errorf("without the old key: %v", err)
	}
	if code, output := r.command(t, r.oldFile, ""); code != 1 || !strings.Contains(output, "not configured") ||
		!strings.Contains(output, "wraps "+fmt.Sprint(r.wrappedBy(t, r.newFile))) {
		t.Errorf("a start with the old key: %d %s", code, output)
	}
}

// holdLast locks the last data key's row, so that a rotation waits there.
func (r *rotation) holdLast(t *testing.T) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), r.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SELECT 1 FROM data_keys ORDER BY id DESC LIMIT 1 FOR UPDATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		// What a killed process has sent Postgres would do all the same, once it has the row.
		_, err := tx.Exec(t.Context(),
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		if err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.WithoutCancel(t.Context())) // which ends the transaction
	}
}

// TestWrongMasterKey starts with a key that this database has never seen: refused at the start.
func TestWrongMasterKey(t *testing.T) {
	t.Parallel()
	r := newRotation(t)
	code, output := r.command(t, r.newFile, "", "--dry-run")
	if code != 1 || !strings.Contains(output, "the master key of the sealed value is not configured") ||
		!strings.Contains(output, previousKeyFiles) {
		t.Errorf("%d %s", code, output)
	}
	if strings.Contains(output, strings.TrimSpace(sealtest.Key("n"))) {
		t.Error("the error shows the key")
	}
	if err := r.use(t, r.Env); err != nil {
		t.Errorf("with the right key: %v", err)
	}
}
