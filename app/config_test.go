package app_test

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/seal"
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
	if c.Listen != "127.0.0.1:8080" || c.ShutdownTimeout != 30*time.Second || len(c.WebhookSchedule) != 11 ||
		c.WebhookSchedule[1] != 5*time.Second {
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
		"PARLANCE_EGRESS_ALLOW_CIDRS": "127.0.0.1", "PARLANCE_EGRESS_DENY_CIDRS": "10.0.0.0/8, 10.0.0.0/33",
		"PARLANCE_WEBHOOK_SCHEDULE": "1", "PARLANCE_TLS_CERT_FILE": "cert.pem",
		"PARLANCE_MODEL_BASE_URL": "http://127.0.0.1:1/v1", "PARLANCE_EMBEDDING_API_KEY_FILE": "/missing",
	}, nil, map[string]string{"ingest-concurrency": "0"}))
	if err == nil {
		t.Fatal("everything was accepted")
	}
	for _, name := range []string{
		"PARLANCE_PUBLIC_URL", "PARLANCE_LOG_LEVEL", "PARLANCE_SHUTDOWN_TIMEOUT", "PARLANCE_EGRESS_ALLOW_CIDRS",
		`PARLANCE_EGRESS_DENY_CIDRS "10.0.0.0/33" is not an address range`, "PARLANCE_WEBHOOK_SCHEDULE",
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

// TestRefused has one wrong value of each kind.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range [][2]string{
		{"PARLANCE_LISTEN", "8080"},
		{"PARLANCE_LISTEN", "127.0.0.1:99999"},
		{"PARLANCE_LISTEN", "unix://relative.sock"},
		{"PARLANCE_METRICS_LISTEN", "9464"},
		{"PARLANCE_METRICS_LISTEN", "Public"},
		{"PARLANCE_WORKER_LISTEN", "off"},
		{"PARLANCE_DEBUG_LISTEN", ":http"},
		{"PARLANCE_SPILL_DIR", "relative"},
		{"PARLANCE_CORS_ORIGINS", "*,https://a.example"},
		{"PARLANCE_WEBHOOK_SCHEDULE", "1s,,2s"},
		{"PARLANCE_WEBHOOK_SCHEDULE", "1s,"},
		{"PARLANCE_MODEL_ANSWER_TIMEOUT", "0s"},
		{"PARLANCE_MODEL_FIRST_TOKEN_TIMEOUT", "0"},
		{"PARLANCE_MODEL_STALL_TIMEOUT", "0ms"},
		{"DATABASE_URL", "mysql://u:hunter2@db/x"},
		{"REDIS_URL", "http://u:hunter2@redis"},
		{"PARLANCE_PLANS_FILE", "/missing.json"},
		{"PARLANCE_MODEL_PRICES_FILE", "/missing.json"},
		{"PARLANCE_EGRESS_CA_FILE", "/missing.pem"},
	} {
		_, err := app.Load(source(map[string]string{row[0]: row[1]}, nil, nil))
		if err == nil || !strings.Contains(err.Error(), row[0]) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", row[0], row[1], err)
		}
	}
	for _, row := range [][2]string{
		{"PARLANCE_LISTEN", "unix:///run/parlance.sock"},
		{"PARLANCE_LISTEN", ":0"},
		{"PARLANCE_LISTEN", "[::1]:8080"},
		{"PARLANCE_METRICS_LISTEN", "public"},
		{"PARLANCE_METRICS_LISTEN", "off"},
		{"PARLANCE_SPILL_DIR", "off"},
		{"PARLANCE_CORS_ORIGINS", "*"},
		{"PARLANCE_WEBHOOK_SCHEDULE", "0s, 5s"},
		{"DATABASE_URL", "host=/run/postgresql dbname=x"},
	} {
		if _, err := app.Load(source(map[string]string{row[0]: row[1]}, nil, nil)); err != nil {
			t.Errorf("%s=%s: %v", row[0], row[1], err)
		}
	}
}

// TestSecretsFromFiles: every secret can be a file, with a line break at its end.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	for _, s := range app.Settings() {
		if !s.Secret {
			continue
		}
		value, file := "authorization=postgres://user:pw@db/x", "/run/secrets/one"
		env := map[string]string{"DATABASE_URL": "postgres://db/x"}
		if s.Name == "DATABASE_URL" {
			env = map[string]string{}
		}
		env[s.Env()+"_FILE"] = file
		if s.Name == "REDIS_URL" {
			value = "redis://user:pw@redis:6379/0"
		}
		// The two of a pair are set together.
		switch s.Name {
		case "S3_ACCESS_KEY_ID":
			env["PARLANCE_S3_SECRET_ACCESS_KEY"] = "other"
		case "S3_SECRET_ACCESS_KEY":
			env["PARLANCE_S3_ACCESS_KEY_ID"] = "other"
		case "STT_FALLBACK_API_KEY":
			env["PARLANCE_STT_API_KEY"] = "other"
		case "TTS_FALLBACK_API_KEY":
			env["PARLANCE_TTS_API_KEY"] = "other"
		case "TWILIO_AUTH_TOKEN":
			env["PARLANCE_TWILIO_ACCOUNT_SID"] = "AC1"
		case "OIDC_CLIENT_SECRET":
			env["PARLANCE_OIDC_ISSUER"], env["PARLANCE_OIDC_CLIENT_ID"] = "https://issuer.example", "parlance"
			env["PARLANCE_OIDC_ROLES"] = "admins=owner"
		}
		c, err := app.Load(source(env, map[string]string{file: value + "\n"}, nil))
		if err != nil {
			t.Errorf("%s_FILE: %v", s.Env(), err)
		}
		if s.Name == "MASTER_KEY" {
			if c.MasterKeyFile != file {
				t.Errorf("PARLANCE_MASTER_KEY_FILE is %q, want the path", c.MasterKeyFile)
			}
		} else if !strings.Contains(revealed(c), value) {
			t.Errorf("%s_FILE was not read", s.Env())
		}

		env[s.Env()] = value
		_, err = app.Load(source(env, map[string]string{file: value}, nil))
		refusal := s.Env() + " and " + s.Env() + "_FILE are both set"
		if s.Name == "MASTER_KEY" { // it can be a URL too
			refusal = "more than one is set: keep one of them"
		}
		if err == nil || !strings.Contains(err.Error(), refusal) || strings.Contains(err.Error(), value) {
			t.Errorf("%s both ways: %v", s.Env(), err)
		}
	}
	_, err := app.Load(source(map[string]string{"REDIS_URL_FILE": "/empty"}, map[string]string{"/empty": "\n"}, nil))
	if err == nil || !strings.Contains(err.Error(), "REDIS_URL_FILE names a file that holds nothing: /empty") {
		t.Errorf("an empty file: %v", err)
	}
}

// revealed is all secrets of a configuration.
func revealed(c app.Config) string {
	var all []string
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		switch v := fields.Field(i).Interface().(type) {
		case seal.Secret:
			all = append(all, v.Reveal())
		case app.Azure:
			all = append(all, v.APIKey.Reveal())
		case app.OIDC:
			all = append(all, v.ClientSecret.Reveal())
		case app.Twilio:
			all = append(all, v.AuthToken.Reveal())
		case app.Stripe:
			all = append(all, v.APIKey.Reveal())
			for _, secret := range v.WebhookSecrets {
				all = append(all, secret.Reveal())
			}
		case app.Provider:
			all = append(all, v.APIKey.Reveal())
		case app.Speech:
			all = append(all, v.APIKey.Reveal())
		case app.Embedding:
			all = append(all, v.APIKey.Reveal())
		case map[string]seal.Secret:
			for name, value := range v {
				all = append(all, name+"="+value.Reveal())
			}
		}
	}
	return strings.Join(all, "\n")
}

// TestURLsRefused: settings that would make wrong URLs, or match no origin, are refused.
func TestURLsRefused(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"PARLANCE_PUBLIC_URL": {
			"https://x.example/v1", "https://x.example/v1/", "https://u:p@x.example", "https://x.example/?a=b", "https://x.example/#f",
			"https://x.example/a/../b", "https://x.example/a//b", "x.example", "https://",
		},
		"PARLANCE_CORS_ORIGINS": {
			"https://app.example/", "app.example", "https://*.example", "https://app.example/path", "null",
		},
		"PARLANCE_TRUSTED_PROXIES": {"10.0.0.0/33", "proxy.example", "10.0.0.1:80", "fe80::1%eth0"},
	} {
		for _, value := range values {
			_, err := app.Load(source(map[string]string{name: value}, nil, nil))
			if err == nil || !strings.HasPrefix(err.Error(), name+" ") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	c, err := app.Load(source(map[string]string{
		"PARLANCE_PUBLIC_URL": "https://x.example/parlance/", "PARLANCE_CORS_ORIGINS": "https://app.example, http://[::1]:3000",
		"PARLANCE_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7,::1,2001:db8::/32,loopback,private,unix",
	}, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.PublicURL != "https://x.example/parlance" || len(c.CORSOrigins) != 2 {
		t.Errorf("got %q, %q", c.PublicURL, c.CORSOrigins)
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

// TestMeters: meters of Stripe that cannot be reported, or would be twice, are refused with words
// that say why.
func TestMeters(t *testing.T) {
	t.Parallel()
	const key = "sk_test_1"
	long := strings.Repeat("n", 101)
	for value, says := range map[string]string{
		"tokens":                      `"tokens", which is not meter=event_name`,
		"tokens=":                     `"tokens=", which is not meter=event_name`,
		"tokens=" + long:              "at most 100 bytes",
		"words=w":                     `the meter "words"; the meters are those of GET /v1/usage`,
		"sessions=s,kb_bytes=b":       "kb_bytes, which cannot be reported: it is what is stored at a time",
		"tokens=a,tokens=b":           "counted twice",
		"input_tokens=t,tokens=t":     "counted twice",
		"sessions=one, turns=another": "",
		"":                            "",
	} {
		c, err := app.Load(source(map[string]string{"PARLANCE_STRIPE_METERS": value, "PARLANCE_STRIPE_API_KEY": key}, nil, nil))
		switch {
		case says == "" && err != nil:
			t.Errorf("%q: %v", value, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), "PARLANCE_STRIPE_METERS has ") || !strings.Contains(err.Error(), says)):
			t.Errorf("%q: %v, want %q", value, err, says)
		case value == "sessions=one, turns=another" && (c.Stripe.Meters["sessions"] != "one" || c.Stripe.Meters["turns"] != "another"):
			t.Errorf("%q: %v", value, c.Stripe.Meters)
		}
	}
	_, err := app.Load(source(map[string]string{"PARLANCE_STRIPE_METERS": "tokens=t"}, nil, nil))
	if err == nil || !strings.Contains(err.Error(), "PARLANCE_STRIPE_METERS needs PARLANCE_STRIPE_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}
