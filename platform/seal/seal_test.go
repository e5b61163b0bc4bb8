package seal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/seal"
)

func masters(t testing.TB, content string) seal.Masters {
	t.Helper()
	keys, err := seal.ParseMasters([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestLocalKey(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb}, 32)
	text := base64.StdEncoding.EncodeToString(raw)
	dataKey, place := bytes.Repeat([]byte{7}, 32), []byte("here")
	wrapped, err := masters(t, string(raw))[0].Wrap(t.Context(), dataKey, place)
	if err != nil || bytes.Contains(wrapped, dataKey) {
		t.Fatalf("wrapped %x, %v", wrapped, err)
	}
	for name, content := range map[string]string{
		"standard": text, "unpadded": strings.TrimRight(text, "="), "URL": base64.URLEncoding.EncodeToString(raw),
		"Windows lines": "# c\r\n" + text + "\r\n",
	} {
		key := masters(t, content)[0]
		if got, err := key.Unwrap(t.Context(), wrapped, place); err != nil || !bytes.Equal(got, dataKey) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
		if !strings.HasPrefix(key.ID(), "local:") || len(key.ID()) != 22 {
			t.Errorf("%s: the id %q", name, key.ID())
		}
	}
	key := masters(t, text)[0]
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		if _, err := key.Unwrap(t.Context(), changed, place); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := key.Unwrap(t.Context(), wrapped[:i], place); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := key.Unwrap(t.Context(), wrapped, []byte("there")); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("another place: %v", err)
	}
}

func TestParseMastersRefuses(t *testing.T) {
	t.Parallel()
	text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xfb}, 32))
	for name, content := range map[string]string{
		"empty": "", "comment": "# nothing\n", "short": text[:40], "not base64": "hunter2 hunter2", "twice": text + "\n" + text,
		"zeros": base64.StdEncoding.EncodeToString(make([]byte, 32)),
	} {
		if _, err := seal.ParseMasters([]byte(content)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMasterKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := seal.NewMasterKeyFile(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	made, err := seal.LoadMasters(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := seal.NewMasterKeyFile(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if again, err := seal.LoadMasters(path); err != nil || again[0].ID() != made[0].ID() {
		t.Errorf("the key was replaced: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := seal.LoadMasters(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSecretHides(t *testing.T) {
	t.Parallel()
	type config struct {
		Key seal.Secret `json:"key"`
	}
	cfg := config{Key: "hunter2"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+" "+verb+"\n", cfg.Key, cfg)
	}
	if err := json.NewEncoder(&out).Encode(cfg); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "key", cfg.Key, "cfg", cfg)
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "key", cfg.Key, "cfg", cfg)
	for _, leak := range []string{"hunter2", "68756e74657232"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("leaks in:\n%s", out.String())
		}
	}
	if _, err := cfg.Key.Value(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the database takes it: %v", err)
	}
	if cfg.Key.Reveal() != "hunter2" || !cfg.Key.IsSet() || seal.Secret("").IsSet() {
		t.Error("Reveal or IsSet is wrong")
	}
	var read config
	if err := json.Unmarshal([]byte(`{"key":"hunter3"}`), &read); err != nil || read.Key.Reveal() != "hunter3" {
		t.Errorf("unmarshalled %v", err)
	}
}

// FuzzUnwrap looks for bytes that a master key takes for its own.
func FuzzUnwrap(f *testing.F) {
	key := masters(f, string(bytes.Repeat([]byte{1}, 32)))[0]
	secret := bytes.Repeat([]byte{7}, 32)
	wrapped, err := key.Wrap(context.Background(), secret, []byte("here"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wrapped)
	f.Fuzz(func(t *testing.T, mutated []byte) {
		// Each fuzzing process wraps the secret anew, so what is ours is told by what it holds.
		if opened, err := key.Unwrap(t.Context(), mutated, []byte("here")); err == nil && !bytes.Equal(opened, secret) {
			t.Error("a wrapped key we did not make unwraps")
		}
	})
}
