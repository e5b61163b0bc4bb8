package webhooks

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// cursors turn the positions of a workspace's feed into cursors and back. Positions count the
// events of all tenants, so a cursor is encrypted: one block of AES with a key of the feed, which
// holds the position and zeros. An event of a feed always has the same cursor.
type cursors struct{ block cipher.Block }

// cursorsOf makes the cursors of a workspace's feed.
func (s *Service) cursorsOf(ref workspaces.Ref) (cursors, error) {
	block, err := aes.NewCipher(mac(s.cursorKey, []byte("events cursor "+string(ref.TenantID)+" "+string(ref.ID))))
	return cursors{block: block}, err
}

func (c cursors) format(position int64) string {
	var plain, sealed [aes.BlockSize]byte
	binary.BigEndian.PutUint64(plain[:], uint64(position))
	c.block.Encrypt(sealed[:], plain[:])
	return base64.RawURLEncoding.EncodeToString(sealed[:])
}

// parse returns the position of a cursor: 0 for an empty one and for "0", which begin with the
// oldest event. Errors: Invalid invalid-request; Precondition events-cursor-expired for a number,
// which cursors were before 0.3.0.
func (c cursors) parse(cursor string) (int64, error) {
	if cursor == "" || cursor == "0" {
		return 0, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(sealed) == aes.BlockSize {
		var plain [aes.BlockSize]byte
		c.block.Decrypt(plain[:], sealed)
		position := int64(binary.BigEndian.Uint64(plain[:]))
		if binary.BigEndian.Uint64(plain[8:]) == 0 && position >= 0 {
			return position, nil
		}
	}
	if _, err := strconv.ParseUint(cursor, 10, 64); err == nil {
		return 0, fault.OnField(fault.EventsCursorExpired, "after",
			"Cursors of versions before 0.3.0, which are numbers, are no longer accepted. Leave it out to read from the oldest event that is kept.")
	}
	return 0, fault.InvalidField("after", "invalid", "after must be the cursor of an event of this feed.")
}
