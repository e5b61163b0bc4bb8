package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const keyBytes = 32

// MasterKey wraps data keys: a [LocalKey], or a key that never leaves a key-management service.
type MasterKey interface {
	// ID names the key for good ("local:6f1e…", "vault:host/transit/keys/name"); it tells nothing
	// about the key, and stands beside everything the key wrapped.
	ID() string
	// Wrap encrypts a data key of 32 bytes, bound to the associated bytes.
	Wrap(ctx context.Context, dataKey, associated []byte) ([]byte, error)
	// Unwrap is the inverse of Wrap. Errors: ErrOpen for what this key did not wrap with these
	// associated bytes; anything else is a key that cannot be asked now.
	Unwrap(ctx context.Context, wrapped, associated []byte) ([]byte, error)
}

// Masters are the master keys of a process: the first wraps, all of them unwrap.
type Masters []MasterKey

// Find is the master key of that id.
func (m Masters) Find(id string) (MasterKey, bool) {
	for _, key := range m {
		if key.ID() == id {
			return key, true
		}
	}
	return nil, false
}

// IDs are the keys' ids, the one that wraps first.
func (m Masters) IDs() []string {
	ids := make([]string, len(m))
	for i, key := range m {
		ids[i] = key.ID()
	}
	return ids
}

// Add puts keys behind the others; those that are there already are passed over.
func (m Masters) Add(keys ...MasterKey) Masters {
	for _, key := range keys {
		if _, known := m.Find(key.ID()); !known {
			m = append(m, key)
		}
	}
	return m
}

// LocalKey is a master key in this process's memory: AES-256-GCM.
type LocalKey struct {
	id     string
	secret [keyBytes]byte
}

// newLocalKey names the key by a hash of it.
func newLocalKey(secret []byte) *LocalKey {
	digest := sha256.Sum256(append([]byte("parlance master key id\x00"), secret...))
	return &LocalKey{id: "local:" + hex.EncodeToString(digest[:8]), secret: [keyBytes]byte(secret)}
}

// ID implements MasterKey: "local:" and 16 hex characters.
func (k *LocalKey) ID() string { return k.id }

// Wrap implements MasterKey. Nonces are random: safe for 2^32 data keys (NIST SP 800-38D).
func (k *LocalKey) Wrap(_ context.Context, dataKey, associated []byte) ([]byte, error) {
	gcm, err := NewAEAD(k.secret[:])
	if err != nil {
		return nil, err
	}
	return gcm.Seal(nil, nil, dataKey, associated), nil
}

// Unwrap implements MasterKey.
func (k *LocalKey) Unwrap(_ context.Context, wrapped, associated []byte) ([]byte, error) {
	gcm, err := NewAEAD(k.secret[:])
	if err != nil {
		return nil, err
	}
	if len(wrapped) < gcm.Overhead() {
		return nil, ErrOpen
	}
	dataKey, err := gcm.Open(nil, nil, wrapped, associated)
	if err != nil {
		return nil, ErrOpen
	}
	return dataKey, nil
}

// ParseMasters reads local master keys: either exactly 32 raw bytes, or text with the base64 of 32
// bytes on each line, the one that wraps first. Empty lines and lines beginning with # are passed
// over.
func ParseMasters(content []byte) (Masters, error) {
	if len(content) == keyBytes {
		return Masters{newLocalKey(content)}, nil
	}
	var masters Masters
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		secret, err := decodeKey(line)
		if err != nil {
			return nil, fmt.Errorf("master key on line %d: %w", i+1, err)
		}
		key := newLocalKey(secret)
		if _, known := masters.Find(key.id); known {
			return nil, errors.New("a master key stands there twice")
		}
		masters = append(masters, key)
	}
	if len(masters) == 0 {
		return nil, errors.New("there is no master key")
	}
	return masters, nil
}

// LoadMasters is ParseMasters of a file.
func LoadMasters(path string) (Masters, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the master key file: %w", err)
	}
	masters, err := ParseMasters(content)
	if err != nil {
		return nil, fmt.Errorf("master key file %s: %w", path, err)
	}
	return masters, nil
}

// NewMasterKeyFile writes a new random master key to path with mode 0600. A file that is there
// is left alone and the error is fs.ErrExist; a half-written file is never visible.
func NewMasterKeyFile(path string) error {
	secret := make([]byte, keyBytes)
	rand.Read(secret)
	temporary, err := os.CreateTemp(filepath.Dir(path), ".master-key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("making the master key file: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // the key has another name by then
	_, err = temporary.WriteString(base64.StdEncoding.EncodeToString(secret) + "\n")
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return fmt.Errorf("writing the master key file: %w", err)
	}
	// Unlike a rename, a link never replaces a key that wrapped something.
	if err := os.Link(temporary.Name(), path); err != nil {
		return fmt.Errorf("making the master key file: %w", err)
	}
	return nil
}

// decodeKey takes standard and URL base64, padded or not. Its errors hold nothing of the text.
func decodeKey(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	secret, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(secret) != keyBytes {
		return nil, fmt.Errorf("not the base64 of %d bytes", keyBytes)
	}
	if bytes.Equal(secret, make([]byte, keyBytes)) {
		return nil, errors.New("a key of zeros is no secret")
	}
	return secret, nil
}
