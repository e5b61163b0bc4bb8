package audit

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Anchor is the hash of an entry that somebody has kept outside the database. A chain that was cut
// or computed anew after it does not have that hash at that number.
type Anchor struct {
	Number int64
	Hash   []byte
}

// ParseAnchor reads HASH@NUMBER, as `parlance audit verify` prints it.
func ParseAnchor(text string) (Anchor, error) {
	hash, number, found := strings.Cut(text, "@")
	var a Anchor
	var err error
	if a.Hash, err = hex.DecodeString(hash); !found || err != nil || len(a.Hash) != HashBytes {
		return Anchor{}, fmt.Errorf("%q is not HASH@NUMBER with the 64 hexadecimal digits of a hash", text)
	}
	if a.Number, err = strconv.ParseInt(number, 10, 64); err != nil || a.Number < 1 {
		return Anchor{}, fmt.Errorf("%q is not the number of an entry", number)
	}
	return a, nil
}

// String is HASH@NUMBER.
func (a Anchor) String() string {
	return hex.EncodeToString(a.Hash) + "@" + strconv.FormatInt(a.Number, 10)
}

// BrokenError says where a chain is broken.
type BrokenError struct {
	// Number is that of the first entry that is wrong or missing.
	Number int64
	// Why is a sentence without a full stop.
	Why string
}

// Error implements error.
func (e *BrokenError) Error() string { return fmt.Sprintf("entry %d: %s", e.Number, e.Why) }

// Verifier checks the chain of one tenant. Add it the entries in order, then call Close.
type Verifier struct {
	// Partial allows a chain that begins with a later entry than 1, as a partial export does.
	Partial bool
	// Anchor is what the chain must contain; nil: nothing.
	Anchor *Anchor

	// Count, First and Last describe the entries that were added. First and Last are zero without
	// entries.
	Count       int64
	First, Last Entry
}

// Head is the anchor of the last entry.
func (v *Verifier) Head() Anchor { return Anchor{Number: v.Last.Number, Hash: v.Last.Hash} }

// Add checks the next entry. Errors: *BrokenError.
func (v *Verifier) Add(e Entry) error {
	if err := v.checkPlace(e); err != nil {
		return err
	}
	sum, err := e.sum()
	if err != nil {
		return &BrokenError{e.Number, "it cannot be read: " + err.Error()}
	}
	if !bytes.Equal(sum, e.Hash) {
		return &BrokenError{e.Number, "its fields do not have its hash: it was changed"}
	}
	if v.Anchor != nil && e.Number == v.Anchor.Number && !bytes.Equal(e.Hash, v.Anchor.Hash) {
		return &BrokenError{e.Number, "it does not have the hash that was expected: the chain was written anew"}
	}
	if v.Count == 0 {
		v.First = e
	}
	v.Count, v.Last = v.Count+1, e
	return nil
}

// checkPlace checks that the entry follows the one that was added before.
func (v *Verifier) checkPlace(e Entry) error {
	next, previous := v.Last.Number+1, v.Last.Hash
	if v.Count == 0 {
		previous = make([]byte, HashBytes)
		if v.Partial && e.Number > 1 {
			next, previous = e.Number, e.PreviousHash
		}
	}
	switch {
	case e.Number > next:
		return &BrokenError{next, fmt.Sprintf("it is missing; entry %d comes in its place", e.Number)}
	case e.Number < next:
		return &BrokenError{next, fmt.Sprintf("entry %d comes in its place", e.Number)}
	case v.Count > 0 && e.TenantID != v.Last.TenantID:
		return &BrokenError{e.Number, "it is of another tenant"}
	case !bytes.Equal(e.PreviousHash, previous):
		return &BrokenError{e.Number, "it does not follow the entry before it: one of them was changed or moved"}
	}
	return nil
}

// Close checks that the entry of the anchor was there. Errors: *BrokenError.
func (v *Verifier) Close() error {
	switch {
	case v.Anchor == nil || v.Count > 0 && v.Anchor.Number >= v.First.Number && v.Anchor.Number <= v.Last.Number:
		return nil
	case v.Anchor.Number > v.Last.Number:
		return &BrokenError{v.Last.Number + 1, fmt.Sprintf("it is missing: the chain was cut off before entry %d", v.Anchor.Number)}
	default:
		return &BrokenError{v.Anchor.Number, fmt.Sprintf("it was expected, and the file begins with entry %d", v.First.Number)}
	}
}
