package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/platform/seal"
)

const (
	// Scheme is that of the address of a key over https.
	Scheme = "vault"
	// SchemePlain is that of a key over http: a Vault in development mode.
	SchemePlain = "vault+http"
	// callTimeout bounds one request.
	callTimeout = 10 * time.Second
	// maxAnswerBytes bounds what is read of an answer: a wrapped key has about 200 bytes.
	maxAnswerBytes = 64 << 10
)

// Config names a key. Address and Client are required.
type Config struct {
	// Address is vault://host:8200/<mount>/keys/<name>, perhaps with ?namespace=….
	Address string
	Token   seal.Secret
	// Client sends the requests; see Base for the host it must reach.
	Client *http.Client
}

// Key is a seal.MasterKey. Safe for concurrent use.
type Key struct {
	id, base, mount, name, namespace string

	token  seal.Secret
	client *http.Client
}

// Base is the URL of the server that an address names: https://host:8200.
// Errors: the address is not one of ours.
func Base(address string) (string, error) {
	k, err := parse(address)
	return k.base, err
}

// New checks the configuration; nothing is asked yet.
func New(c Config) (*Key, error) {
	k, err := parse(c.Address)
	if err != nil {
		return nil, err
	}
	if !c.Token.IsSet() || c.Client == nil {
		return nil, errors.New("a key in Vault needs a token (PARLANCE_VAULT_TOKEN)")
	}
	k.token, k.client = c.Token, c.Client
	return &k, nil
}

func parse(address string) (Key, error) {
	form := errors.New("must be vault://host:8200/<mount>/keys/<name>, or vault+http:// without TLS")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return Key{}, form
	}
	scheme, ok := map[string]string{Scheme: "https", SchemePlain: "http"}[u.Scheme]
	mount, name, found := strings.Cut(strings.Trim(u.EscapedPath(), "/"), "/keys/")
	if !ok || !found || mount == "" || name == "" || strings.Contains(name, "/") {
		return Key{}, form
	}
	return Key{
		id:   "vault:" + strings.ToLower(u.Host) + "/" + mount + "/keys/" + name,
		base: scheme + "://" + u.Host, mount: mount, name: name, namespace: u.Query().Get("namespace"),
	}, nil
}

// ID implements seal.MasterKey: vault:host/mount/keys/name. Versions of the key are Vault's own
// affair.
func (k *Key) ID() string { return k.id }

// Wrap implements seal.MasterKey.
func (k *Key) Wrap(ctx context.Context, dataKey, associated []byte) ([]byte, error) {
	bound := sha256.Sum256(associated)
	answer, err := k.call(ctx, "encrypt", map[string]string{
		"plaintext":       base64.StdEncoding.EncodeToString(append(bytes.Clone(dataKey), bound[:]...)),
		"associated_data": base64.StdEncoding.EncodeToString(associated),
	})
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(answer.Ciphertext, "vault:") {
		return nil, errors.New("vault: the answer holds no ciphertext")
	}
	return []byte(answer.Ciphertext), nil
}

// Unwrap implements seal.MasterKey.
func (k *Key) Unwrap(ctx context.Context, wrapped, associated []byte) ([]byte, error) {
	answer, err := k.call(ctx, "decrypt", map[string]string{
		"ciphertext":      string(wrapped),
		"associated_data": base64.StdEncoding.EncodeToString(associated),
	})
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(answer.Plaintext)
	bound := sha256.Sum256(associated)
	if at := len(plain) - len(bound); err != nil || at < 0 || subtle.ConstantTimeCompare(plain[at:], bound[:]) != 1 {
		return nil, seal.ErrOpen
	}
	return plain[:len(plain)-len(bound)], nil
}

// answered is what Vault's answers hold.
type answered struct {
	Ciphertext string `json:"ciphertext"`
	Plaintext  string `json:"plaintext"`
}

// call makes one request. Errors name the status and nothing of the body, which may repeat what
// was sent. A 400 to decrypt is Vault's word for a ciphertext it cannot open: ErrOpen.
func (k *Key) call(ctx context.Context, verb string, body map[string]string) (answered, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	encoded, err := json.Marshal(body)
	if err != nil {
		return answered{}, fmt.Errorf("vault: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, k.base+"/v1/"+k.mount+"/"+verb+"/"+k.name, bytes.NewReader(encoded))
	if err != nil {
		return answered{}, errors.New("vault: the address makes no request")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Vault-Request", "true")
	request.Header.Set("X-Vault-Token", k.token.Reveal())
	if k.namespace != "" {
		request.Header.Set("X-Vault-Namespace", k.namespace)
	}
	response, err := k.client.Do(request)
	if err != nil {
		return answered{}, fmt.Errorf("vault at %s could not be reached: %w", k.base, err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end or given up
	if response.StatusCode != http.StatusOK {
		return answered{}, k.refused(verb, response.StatusCode)
	}
	var out struct {
		Data answered `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(&out); err != nil {
		return answered{}, errors.New("vault: the answer is not what its API describes")
	}
	return out.Data, nil
}

// refused says what to do about a status.
func (k *Key) refused(verb string, status int) error {
	switch {
	case status == http.StatusBadRequest && verb == "decrypt":
		return seal.ErrOpen
	case status == http.StatusForbidden:
		return fmt.Errorf("vault at %s refused the token (403): it may have expired, or its policy lacks update "+
			"on %s/%s/%s", k.base, k.mount, verb, k.name)
	case status == http.StatusNotFound:
		return fmt.Errorf("vault at %s has no transit engine at %q, or no key %q (404)", k.base, k.mount, k.name)
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("vault at %s is sealed or in maintenance (503)", k.base)
	}
	return fmt.Errorf("vault at %s answered %d to %s", k.base, status, verb)
}
