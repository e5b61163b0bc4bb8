package vault_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/seal/vault"
)

const token = "hvs.a-token"

// engine is Vault's transit engine on its wire, as its API reference describes it. It keeps what
// was encrypted under the number in the ciphertext; old says that it ignores associated_data.
type engine struct {
	*httptest.Server

	old    bool
	status atomic.Int32
	kept   []map[string]string
}

func newEngine(t *testing.T, old bool) *engine {
	t.Helper()
	e := &engine{old: old}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/transit/encrypt/parlance", e.handle(func(in map[string]string) (map[string]string, bool) {
		e.kept = append(e.kept, in)
		return map[string]string{"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString([]byte{byte(len(e.kept) - 1)})}, true
	}))
	mux.HandleFunc("POST /v1/transit/decrypt/parlance", e.handle(func(in map[string]string) (map[string]string, bool) {
		number, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(in["ciphertext"], "vault:v1:"))
		if err != nil || len(number) != 1 || int(number[0]) >= len(e.kept) {
			return nil, false
		}
		held := e.kept[number[0]]
		return map[string]string{"plaintext": held["plaintext"]}, e.old || held["associated_data"] == in["associated_data"]
	}))
	e.Server = httptest.NewServer(mux)
	t.Cleanup(e.Close)
	return e
}

func (e *engine) handle(do func(map[string]string) (map[string]string, bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := map[string]string{}
		switch status := int(e.status.Load()); {
		case status != 0:
			http.Error(w, `{"errors":["`+token+`"]}`, status)
		case r.Header.Get("X-Vault-Token") != token || r.Header.Get("X-Vault-Namespace") != "team":
			http.Error(w, `{"errors":["permission denied"]}`, http.StatusForbidden)
		case json.NewDecoder(r.Body).Decode(&in) != nil:
			http.Error(w, `{"errors":["bad"]}`, http.StatusBadRequest)
		default:
			out, ok := do(in)
			if !ok {
				http.Error(w, `{"errors":["cipher: message authentication failed"]}`, http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": out})
		}
	}
}

func (e *engine) key(t *testing.T, token seal.Secret) *vault.Key {
	t.Helper()
	address := strings.Replace(e.URL, "http://", "vault+http://", 1) + "/transit/keys/parlance?namespace=team"
	key, err := vault.New(vault.Config{Address: address, Token: token, Client: e.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestWrap(t *testing.T) {
	t.Parallel()
	dataKey := bytes.Repeat([]byte{7}, 32)
	for name, old := range map[string]bool{"with associated data": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, old)
			key := e.key(t, token)
			wrapped, err := key.Wrap(t.Context(), dataKey, []byte("here"))
			if err != nil || !strings.HasPrefix(string(wrapped), "vault:v1:") {
				t.Fatalf("wrapped %q, %v", wrapped, err)
			}
			if got, err := key.Unwrap(t.Context(), wrapped, []byte("here")); err != nil || !bytes.Equal(got, dataKey) {
				t.Errorf("unwrapped %x, %v", got, err)
			}
			for what, attempt := range map[string][2]string{
				"another place":         {string(wrapped), "there"},
				"no ciphertext of ours": {"vault:v1:AAAA", "here"},
			} {
				if _, err := key.Unwrap(t.Context(), []byte(attempt[0]), []byte(attempt[1])); !errors.Is(err, seal.ErrOpen) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestTrouble has the engine refuse: the error is no ErrOpen, names what to do, and holds no
// secret.
func TestTrouble(t *testing.T) {
	t.Parallel()
	e := newEngine(t, false)
	key := e.key(t, token)
	wrapped, err := key.Wrap(t.Context(), make([]byte, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int32]string{403: "refused the token", 404: "no transit engine", 503: "sealed", 500: "answered 500"} {
		e.status.Store(status)
		_, err := key.Unwrap(t.Context(), wrapped, nil)
		if err == nil || errors.Is(err, seal.ErrOpen) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%d: %v", status, err)
		}
	}
	e.status.Store(0)
	if _, err := e.key(t, "hvs.another").Wrap(t.Context(), make([]byte, 32), nil); err == nil || strings.Contains(err.Error(), "hvs") {
		t.Errorf("another token: %v", err)
	}
	e.Close()
	if _, err := key.Unwrap(t.Context(), wrapped, nil); err == nil || errors.Is(err, seal.ErrOpen) {
		t.Errorf("a server that is gone: %v", err)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for address, base := range map[string]string{
		"vault://vault.internal:8200/transit/keys/parlance": "https://vault.internal:8200",
		"vault+http://127.0.0.1:8200/a/b/keys/k":            "http://127.0.0.1:8200",
	} {
		if got, err := vault.Base(address); err != nil || got != base {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	for _, address := range []string{
		"", "https://vault.internal/transit/keys/k", "vault://h/transit", "vault://h/transit/keys/",
		"vault://u:p@h/transit/keys/k", "vault:///transit/keys/k", "vault://h/transit/keys/a/b",
	} {
		if _, err := vault.Base(address); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
	key, err := vault.New(vault.Config{Address: "vault://Vault.Internal:8200/transit/keys/parlance", Token: token, Client: http.DefaultClient})
	if err != nil || key.ID() != "vault:vault.internal:8200/transit/keys/parlance" {
		t.Errorf("the id of %+v, %v", key, err)
	}
	if _, err := vault.New(vault.Config{Address: "vault://h/transit/keys/k", Client: http.DefaultClient}); err == nil {
		t.Error("a key without a token is accepted")
	}
}
