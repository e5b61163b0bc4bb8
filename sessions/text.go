package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"
)

// StorableText returns the text without what Postgres cannot store: invalid UTF-8 and NUL.
func StorableText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// IsStorable reports whether Postgres can store the text: valid UTF-8 without NUL.
func IsStorable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// OneLine is the text with each run of white space replaced by one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// HashOf returns the SHA-256 of the content in hex.
func HashOf[T ~string | ~[]byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Milliseconds returns a duration in whole milliseconds, 0 for a negative one.
func Milliseconds(d time.Duration) int { return int(max(0, d.Milliseconds())) }
