package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// ErrDamaged is in the chain of the error of a reader of Verify.
var ErrDamaged = errors.New("the stored blob is not what was written: its SHA-256 differs")

// Verify returns r with a check at its end: instead of io.EOF it returns ErrDamaged when the bytes
// do not have the SHA-256 that Put has answered.
func Verify(r io.ReadCloser, sha256Hex string) io.ReadCloser {
	return &verified{ReadCloser: r, sum: sha256.New(), want: sha256Hex}
}

type verified struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return n, ErrDamaged
	}
	return n, err
}
