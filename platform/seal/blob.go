package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

const (
	// version of a blob. Version 1, of early development, had its data key inside and is refused.
	version     = 2
	oldVersion  = 1
	keyIDBytes  = 16
	headerBytes = 1 + keyIDBytes
	nonceBytes  = 12
	tagBytes    = 16
	// Overhead is by how many bytes a blob is longer than its value.
	Overhead = headerBytes + nonceBytes + tagBytes
)

var (
	// ErrOpen says that a blob was changed, is another place's, or is no blob. It does not say
	// which.
	ErrOpen = errors.New("the sealed value cannot be opened")
	// ErrUnknownKey says that the master key which wrapped a data key is not configured.
	ErrUnknownKey = errors.New("the master key of the sealed value is not configured")
	// ErrOldFormat says that a blob was sealed by a version before the first release.
	ErrOldFormat = errors.New("the value was sealed by a development version whose format is not read any more: set the secret again")
)

// Binding is the place a value belongs to. It is not stored: whoever opens must know it.
type Binding struct {
	// TenantID also says whose data key seals; empty: the installation's own.
	TenantID string
	// Record is the row's id, with its table's name where ids have no prefix.
	Record string
	Field  string
}

// blobKey is the id of the data key that a blob names. Errors: ErrOpen, ErrOldFormat.
func blobKey(blob []byte) (uuid.UUID, error) {
	switch {
	case len(blob) >= Overhead && blob[0] == version:
		return uuid.UUID(blob[1:headerBytes]), nil
	case len(blob) > 0 && blob[0] == oldVersion:
		return uuid.UUID{}, ErrOldFormat
	}
	return uuid.UUID{}, ErrOpen
}

// sealWith makes the blob of a value under a data key.
func sealWith(key *dataKey, plaintext []byte, place Binding) []byte {
	header := append([]byte{version}, key.id[:]...)
	return key.aead.Seal(header, nil, plaintext, associated("value", string(header), place.TenantID, place.Record, place.Field))
}

// openWith is the inverse of sealWith.
func openWith(key *dataKey, blob []byte, place Binding) ([]byte, error) {
	bound := associated("value", string(blob[:headerBytes]), place.TenantID, place.Record, place.Field)
	plaintext, err := key.aead.Open(nil, nil, blob[headerBytes:], bound)
	if err != nil {
		return nil, ErrOpen
	}
	return plaintext, nil
}

// NewAEAD makes AES-GCM that puts a random nonce in front of what it seals.
func NewAEAD(key []byte) (cipher.AEAD, error) {
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
func associated(parts ...string) []byte {
	out := []byte("parlance seal 2")
	for _, part := range parts {
		out = binary.AppendUvarint(out, uint64(len(part)))
		out = append(out, part...)
	}
	return out
}
