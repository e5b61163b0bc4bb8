package stripe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/platform/seal"
)

// SignatureHeader is the header of a webhook request that holds its signatures:
// "t=1492774577,v1=5257a869…,v1=…". Source: docs.stripe.com/webhooks, Verify manually.
const SignatureHeader = "Stripe-Signature"

// Tolerance is how far the time of a signature may be from now, in both directions: a request that
// somebody recorded is of no use later. Source: Stripe's libraries.
const Tolerance = 5 * time.Minute

// The reasons why a request is not believed.
var (
	ErrNoSignature    = errors.New("the header has no time or no signature of scheme v1")
	ErrWrongSignature = errors.New("no signature was made with one of the secrets")
	ErrOldSignature   = errors.New("the time of the signature is too far from now")
)

// VerifyParams are a webhook request and what it is checked against.
type VerifyParams struct {
	// Header is the value of SignatureHeader, Body the bytes as they came.
	Header string
	Body   []byte
	// Secrets are the secrets of the webhook endpoint; while one is exchanged there are two.
	Secrets []seal.Secret
	Now     time.Time
}

// Verify checks that Stripe made the request: one signature fits one of the secrets, and its time
// is at most Tolerance from now. Errors: ErrNoSignature, ErrWrongSignature, ErrOldSignature.
func Verify(p VerifyParams) error {
	at, signatures := parseSignatures(p.Header)
	if at == "" || len(signatures) == 0 {
		return ErrNoSignature
	}
	if !anyFits(p, at, signatures) {
		return ErrWrongSignature
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return ErrNoSignature
	}
	if age := p.Now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrOldSignature
	}
	return nil
}

// parseSignatures returns the time and the signatures of scheme v1. Other schemes are left out:
// v0 is one that only tests use.
func parseSignatures(header string) (at string, signatures [][]byte) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at = value
		case "v1":
			if decoded, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, decoded)
			}
		}
	}
	return at, signatures
}

// anyFits compares every signature with that of every secret, in constant time.
func anyFits(p VerifyParams, at string, signatures [][]byte) bool {
	fits := false
	for _, secret := range p.Secrets {
		want := signature(secret, at, p.Body)
		for _, got := range signatures {
			fits = hmac.Equal(got, want) || fits
		}
	}
	return fits
}

func signature(secret seal.Secret, at string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return mac.Sum(nil)
}
