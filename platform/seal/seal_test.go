package seal_test

import (
	"bytes"
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

var place = seal.Binding{TenantID: "ten_1", Record: "tools/t1", Field: "auth_header"}

func line(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32)) + "\n"
}

func ring(t *testing.T, content string) *seal.Keyring {
	t.Helper()
	k, err := seal.ParseKeyring([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sealed(t *testing.T, k *seal.Keyring, plaintext string) []byte {
	t.Helper()
	blob, err := k.Seal([]byte(plaintext), place)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	k := ring(t, line(1))
	for _, plaintext := range []string{"", "Bearer hunter2", strings.Repeat("x", 100_000)} {
		blob := sealed(t, k, plaintext)
		if len(plaintext) > 0 && bytes.Contains(blob, []byte(plaintext)) {
			t.Error("the blob shows the value")
		}
		if got, want := len(blob), len(plaintext)+97; got != want {
			t.Errorf("a blob of %d bytes, want %d", got, want)
		}
		got, err := k.Open(blob, place)
		if err != nil || string(got) != plaintext {
			t.Errorf("got %.20q, %v", got, err)
		}
		if bytes.Equal(blob, sealed(t, k, plaintext)) {
			t.Error("two blobs of one value are the same")
		}
	}
}

// TestOtherPlace moves a ciphertext to other rows and fields.
func TestOtherPlace(t *testing.T) {
	t.Parallel()
	k := ring(t, line(1))
	blob := sealed(t, k, "Bearer hunter2")
	for _, other := range []seal.Binding{
		{TenantID: "ten_2", Record: "tools/t1", Field: "auth_header"},
		{TenantID: "ten_1", Record: "tools/t2", Field: "auth_header"},
		{TenantID: "ten_1", Record: "tools/t1", Field: "headers"},
		{TenantID: "ten_1t", Record: "ools/t1", Field: "auth_header"},
		{},
	} {
		if _, err := k.Open(blob, other); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%+v: opened, or %v", other, err)
		}
		if _, err := k.Rewrap(blob, other); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%+v: rewrapped, or %v", other, err)
		}
	}
}

func TestChangedBlob(t *testing.T) {
	t.Parallel()
	k := ring(t, line(1))
	blob := sealed(t, k, "Bearer hunter2")
	for i := range blob {
		changed := bytes.Clone(blob)
		changed[i] ^= 1
		if _, err := k.Open(changed, place); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := k.Open(blob[:i], place); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	// The value of one blob behind the key of another.
	other := sealed(t, k, "Bearer hunter3")
	if _, err := k.Open(append(bytes.Clone(blob[:69]), other[69:]...), place); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("a spliced blob: %v", err)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	before, during, after := ring(t, line(1)), ring(t, "# new\n"+line(2)+"\n"+line(1)), ring(t, line(2))
	old := sealed(t, before, "value")
	if got, err := during.Open(old, place); err != nil || string(got) != "value" {
		t.Errorf("the old blob during the overlap: %q, %v", got, err)
	}
	if _, err := after.Open(old, place); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("the old blob afterwards: %v", err)
	}
	moved, err := during.Rewrap(old, place)
	if err != nil || during.IsCurrent(old) || !during.IsCurrent(moved) || during.IsCurrent(nil) {
		t.Errorf("Rewrap: %v, current %v and %v", err, during.IsCurrent(old), during.IsCurrent(moved))
	}
	if got, err := after.Open(moved, place); err != nil || string(got) != "value" {
		t.Errorf("the moved blob afterwards: %q, %v", got, err)
	}
	if got, err := after.Open(sealed(t, during, "new"), place); err != nil || string(got) != "new" {
		t.Errorf("a blob sealed during the overlap: %q, %v", got, err)
	}
}

func TestParseKeyring(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb}, 32)
	text := base64.StdEncoding.EncodeToString(raw)
	blob := sealed(t, ring(t, string(raw)), "value")
	for name, content := range map[string]string{
		"standard": text, "unpadded": strings.TrimRight(text, "="), "URL": base64.URLEncoding.EncodeToString(raw), "Windows lines": "\r\n" + text + "\r\n",
	} {
		if got, err := ring(t, content).Open(blob, place); err != nil || string(got) != "value" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, content := range map[string]string{
		"empty": "", "comment": "# nothing\n", "short": text[:40], "not base64": "hunter2 hunter2", "twice": line(1) + line(1),
	} {
		if _, err := seal.ParseKeyring([]byte(content)); err == nil || strings.Contains(err.Error(), "hunter2") {
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
	k, err := seal.LoadKeyring(path)
	if err != nil {
		t.Fatal(err)
	}
	blob := sealed(t, k, "value")
	if err := seal.NewMasterKeyFile(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	again, err := seal.LoadKeyring(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Open(blob, place); err != nil {
		t.Errorf("the key was replaced: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := seal.LoadKeyring(path + "x"); !errors.Is(err, fs.ErrNotExist) {
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

func FuzzOpen(f *testing.F) {
	k, err := seal.ParseKeyring(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		f.Fatal(err)
	}
	blob, err := k.Seal([]byte("value"), place)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(blob)
	f.Fuzz(func(t *testing.T, mutated []byte) {
		if _, err := k.Open(mutated, place); err == nil && !bytes.Equal(mutated, blob) {
			t.Error("a blob we did not make opens")
		}
	})
}
