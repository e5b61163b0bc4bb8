package people

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"

	"parlance.dev/parlance/platform/seal"
)

// tokenBytes are the random bytes of a token: 256 bits.
const tokenBytes = 32

// newToken makes the text that a cookie holds.
func newToken(random io.Reader) (seal.Secret, error) {
	raw := make([]byte, tokenBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return seal.Secret(base64.RawURLEncoding.EncodeToString(raw)), nil
}

// isToken reports whether a text has the form of a token. Others cannot exist.
func isToken(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == tokenBytes
}

// hashToken is the stored form of a token. A plain hash suffices, because it is random.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// CSRFToken is what a page sends beside the cookie with the token, to show that it could read an
// answer of this server. It says nothing about the token.
func CSRFToken(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	_, _ = mac.Write([]byte("parlance console csrf")) // a hash never returns an error
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// CheckCSRF reports whether a text is the CSRFToken of a token. It takes as long for every text.
func CheckCSRF(token, text string) bool {
	return token != "" && hmac.Equal([]byte(CSRFToken(token)), []byte(text))
}
