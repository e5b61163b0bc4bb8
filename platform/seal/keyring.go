package seal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	keyBytes   = 32
	keyIDBytes = 8
)

// masterKey is a key and its id, which is a hash of it and tells nothing about it.
type masterKey struct {
	id     [keyIDBytes]byte
	secret [keyBytes]byte
}

// Keyring holds the master keys: the first seals, all of them open. It is immutable.
type Keyring struct {
	keys []masterKey
}

// ParseKeyring reads master keys: either exactly 32 raw bytes, or text with the base64 of 32
// bytes on each line, the current key first. Empty lines and lines beginning with # are passed over.
func ParseKeyring(content []byte) (*Keyring, error) {
	if len(content) == keyBytes {
		return newKeyring(content)
	}
	var secrets [][]byte
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		secret, err := decodeKey(line)
		if err != nil {
			return nil, fmt.Errorf("master key on line %d: %w", i+1, err)
		}
		secrets = append(secrets, secret)
	}
	return newKeyring(secrets...)
}

// LoadKeyring is ParseKeyring of a file.
func LoadKeyring(path string) (*Keyring, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the master key file: %w", err)
	}
	ring, err := ParseKeyring(content)
	if err != nil {
		return nil, fmt.Errorf("master key file %s: %w", path, err)
	}
	return ring, nil
}

// NewMasterKeyFile writes a new random master key to path with mode 0600. A file that is there
// is left alone and the error is fs.ErrExist; nobody ever sees a half-written one.
func NewMasterKeyFile(path string) error {
	secret := make([]byte, keyBytes)
	rand.Read(secret)                                                    //nolint:errcheck // never fails: the process dies instead (crypto/rand, Go 1.24)
	temporary, err := os.CreateTemp(filepath.Dir(path), ".master-key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("making the master key file: %w", err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(base64.StdEncoding.EncodeToString(secret) + "\n")
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return fmt.Errorf("writing the master key file: %w", err)
	}
	// Unlike a rename, a link never replaces a key that sealed something.
	if err := os.Link(temporary.Name(), path); err != nil {
		return fmt.Errorf("making the master key file: %w", err)
	}
	return nil
}

func newKeyring(secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("there is no master key")
	}
	ring := &Keyring{}
	for _, secret := range secrets {
		key := masterKey{secret: [keyBytes]byte(secret)}
		digest := sha256.Sum256(append([]byte("parlance master key id\x00"), secret...))
		copy(key.id[:], digest[:])
		if _, known := ring.find(key.id[:]); known {
			return nil, errors.New("a master key stands there twice")
		}
		ring.keys = append(ring.keys, key)
	}
	return ring, nil
}

func (k *Keyring) find(id []byte) (masterKey, bool) {
	for _, key := range k.keys {
		if bytes.Equal(key.id[:], id) {
			return key, true
		}
	}
	return masterKey{}, false
}

// decodeKey takes standard and URL base64, padded or not. Its errors hold nothing of the text.
func decodeKey(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	secret, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(secret) != keyBytes {
		return nil, fmt.Errorf("not the base64 of %d bytes", keyBytes)
	}
	return secret, nil
}
