package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	version      = 1
	headerBytes  = 1 + keyIDBytes
	nonceBytes   = 12
	tagBytes     = 16
	wrappedBytes = nonceBytes + keyBytes + tagBytes
	leastBytes   = headerBytes + wrappedBytes + nonceBytes + tagBytes
)

var (
	// ErrOpen says that a blob was changed, is another place's, or is no blob. It does not say which.
	ErrOpen = errors.New("the sealed value cannot be opened")
	// ErrUnknownKey says that the master key which sealed a blob is not in the keyring.
	ErrUnknownKey = errors.New("the sealed value's master key is not in the keyring")
)

// Binding is the place a value belongs to. It is not stored: whoever opens must know it.
type Binding struct {
	TenantID string
	// Record is the row's id, with its table's name where ids have no prefix.
	Record string
	Field  string
}

// Seal encrypts plaintext for one place; the blob is 97 bytes longer. Each call gives another blob.
func (k *Keyring) Seal(plaintext []byte, place Binding) ([]byte, error) {
	dataKey := make([]byte, keyBytes)
	rand.Read(dataKey) //nolint:errcheck // never fails: the process dies instead (crypto/rand, Go 1.24)
	blob, err := k.wrap(dataKey, place)
	if err != nil {
		return nil, err
	}
	value, err := aead(dataKey)
	if err != nil {
		return nil, err
	}
	return value.Seal(blob, nil, plaintext, associated("value", nil, place)), nil
}

// Open gives back what was sealed for the same place.
// Errors: ErrOpen, ErrUnknownKey; neither holds anything of the value.
func (k *Keyring) Open(blob []byte, place Binding) ([]byte, error) {
	dataKey, err := k.unwrap(blob, place)
	if err != nil {
		return nil, err
	}
	value, err := aead(dataKey)
	if err != nil {
		return nil, err
	}
	plaintext, err := value.Open(nil, nil, blob[headerBytes+wrappedBytes:], associated("value", nil, place))
	if err != nil {
		return nil, ErrOpen
	}
	return plaintext, nil
}

// Rewrap moves a blob to the keyring's first key without decrypting the value. It returns a
// new blob; the old one opens for as long as its key is in the ring. Errors as Open.
func (k *Keyring) Rewrap(blob []byte, place Binding) ([]byte, error) {
	dataKey, err := k.unwrap(blob, place)
	if err != nil {
		return nil, err
	}
	moved, err := k.wrap(dataKey, place)
	if err != nil {
		return nil, err
	}
	return append(moved, blob[headerBytes+wrappedBytes:]...), nil
}

// IsCurrent says whether a blob was sealed with the first key; one that was not wants Rewrap.
func (k *Keyring) IsCurrent(blob []byte) bool {
	return len(blob) >= leastBytes && [keyIDBytes]byte(blob[1:headerBytes]) == k.keys[0].id
}

// wrap returns header and wrapped data key under the first master key. Nonces are random:
// safe for 2^32 values a master key (NIST SP 800-38D).
func (k *Keyring) wrap(dataKey []byte, place Binding) ([]byte, error) {
	master := k.keys[0]
	wrapping, err := aead(master.secret[:])
	if err != nil {
		return nil, err
	}
	header := append([]byte{version}, master.id[:]...)
	return wrapping.Seal(header, nil, dataKey, associated("key", header, place)), nil
}

func (k *Keyring) unwrap(blob []byte, place Binding) ([]byte, error) {
	if len(blob) < leastBytes || blob[0] != version {
		return nil, ErrOpen
	}
	header, wrapped := blob[:headerBytes], blob[headerBytes:headerBytes+wrappedBytes]
	master, ok := k.find(header[1:])
	if !ok {
		return nil, ErrUnknownKey
	}
	wrapping, err := aead(master.secret[:])
	if err != nil {
		return nil, err
	}
	dataKey, err := wrapping.Open(nil, nil, wrapped, associated("key", header, place))
	if err != nil {
		return nil, ErrOpen
	}
	return dataKey, nil
}

// aead puts a random nonce in front of what it seals.
func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("preparing the cipher: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("preparing the cipher: %w", err)
	}
	return gcm, nil
}

// associated writes the parts with their lengths, so that no two places give the same bytes.
func associated(layer string, header []byte, place Binding) []byte {
	out := []byte("parlance seal 1")
	for _, part := range []string{layer, string(header), place.TenantID, place.Record, place.Field} {
		out = binary.AppendUvarint(out, uint64(len(part)))
		out = append(out, part...)
	}
	return out
}
