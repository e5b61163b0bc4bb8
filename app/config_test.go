package app_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/app"
)

// source is an environment, files and flags of a test.
func source(env, files, flags map[string]string) app.Source {
	return app.Source{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		ReadFile: func(name string) ([]byte, error) {
			content, ok := files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(content), nil
		},
		Flags: flags,
	}
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	c, err := app.Load(source(nil, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8080" || c.ShutdownTimeout != 30*time.Second || len(c.WebhookSchedule) != 11 || c.WebhookSchedule[1] != 5*time.Second {
		t.Errorf("got %+v", c)
	}
	if len(c.EgressAllowCIDRs) != 0 || len(c.CORSOrigins) != 0 {
		t.Error("something is open by default")
	}
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"PARLANCE_LISTEN": ":1", "OPENAI_API_KEY": "theirs", "PARLANCE_MODEL_API_KEY_FILE": "/run/key", "DATABASE_URL": "postgres://env",
	}
	c, err := app.Load(source(env, map[string]string{"/run/key": "from the file\n"}, map[string]string{"listen": ":2"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != ":2" {
		t.Errorf("a flag does not win: %s", c.Listen)
	}
	if c.Model.APIKey.Reveal() != "from the file" {
		t.Errorf("ours, from a file, does not win over OPENAI_API_KEY: %q", c.Model.APIKey.Reveal())
	}
	if c.DatabaseURL.Reveal() != "postgres://env" {
		t.Errorf("DATABASE_URL is %q", c.DatabaseURL.Reveal())
	}
	if shown := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(shown, "from the file") || strings.Contains(shown, "postgres://env") {
		t.Errorf("a secret prints: %s", shown)
	}
}

func TestLoadListsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := app.Load(source(map[string]string{
		"PARLANCE_PUBLIC_URL": "ftp://x", "PARLANCE_LOG_LEVEL": "loud", "PARLANCE_SHUTDOWN_TIMEOUT": "soon",
		"PARLANCE_EGRESS_ALLOW_CIDRS": "127.0.0.1", "PARLANCE_WEBHOOK_SCHEDULE": "1", "PARLANCE_TLS_CERT_FILE": "cert.pem",
		"PARLANCE_MODEL_BASE_URL": "http://127.0.0.1:1/v1", "PARLANCE_EMBEDDING_API_KEY_FILE": "/missing",
	}, nil, map[string]string{"ingest-concurrency": "0"}))
	if err == nil {
		t.Fatal("everything was accepted")
	}
	for _, name := range []string{
		"PARLANCE_PUBLIC_URL", "PARLANCE_LOG_LEVEL", "PARLANCE_SHUTDOWN_TIMEOUT", "PARLANCE_EGRESS_ALLOW_CIDRS", "PARLANCE_WEBHOOK_SCHEDULE",
		"PARLANCE_TLS_KEY_FILE", "PARLANCE_MODEL_NAME", "PARLANCE_EMBEDDING_API_KEY_FILE", "--ingest-concurrency",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause of the unreadable file is lost")
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	c, err := app.Load(source(map[string]string{"DATABASE_URL": "postgres://x"}, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	err = c.Require("DATABASE_URL", "REDIS_URL")
	if err == nil || !strings.Contains(err.Error(), "REDIS_URL") || strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("got %v", err)
	}
}

// TestSettingsAreWhole: every setting has a name of its own, help and a group.
func TestSettingsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range app.Settings() {
		if seen[s.Flag()] || s.Help == "" || s.Group == "" || !strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s is not whole, or stands twice", s.Name)
		}
		seen[s.Flag()] = true
	}
}
