package idgen

import (
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// An API key is keyMark, then 256 random bits, then a checksum over both: 4 + 43 + 6
// characters. The mark and the checksum let a secret scanner tell a leaked key from noise
// without asking us, and let us refuse a mistyped one without asking the database.
const (
	keyMark       = "prl_"
	keyBytes      = 32
	keyChars      = 43 // the least n with 62^n >= 2^256
	checksumChars = 6  // the least n with 62^n >= 2^32
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewKey makes the secret of an API key, e.g. "prl_…", 53 characters, from 256 bits of random
// (crypto/rand.Reader). It panics when they cannot be read. Store only a hash of it.
func NewKey(random io.Reader) string {
	var secret [keyBytes]byte
	mustRead(random, secret[:])
	key := keyMark + inBase62(new(big.Int).SetBytes(secret[:]), keyChars)
	return key + checksum(key)
}

// CheckKey says whether s has the shape and the checksum of a key. It says nothing about
// whether the key was ever given out.
func CheckKey(s string) bool {
	if len(s) != len(keyMark)+keyChars+checksumChars || !strings.HasPrefix(s, keyMark) {
		return false
	}
	key, sum := s[:len(s)-checksumChars], s[len(s)-checksumChars:]
	return checksum(key) == sum
}

func checksum(key string) string {
	return inBase62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(key)))), checksumChars)
}

// inBase62 writes n in exactly chars digits, most significant first.
func inBase62(n *big.Int, chars int) string {
	out := make([]byte, chars)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := chars - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
