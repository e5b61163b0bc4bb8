package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/seal"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	hintChars    = 4
	// RotationOverlap is how long a rotated secret still signs. Source: decisions, Webhooks.
	RotationOverlap = 24 * time.Hour
	// MaxRotations is how many rotations one RotationOverlap has at most, and so how many secrets
	// sign beside the newest one.
	MaxRotations = 5
)

const userAgent = "Parlance-Webhooks/1"

// mintSecret makes a signing secret: whsec_ and 32 random bytes in base64.
func mintSecret(random io.Reader) (string, error) {
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", fmt.Errorf("read randomness for a webhook secret: %w", err)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(key), nil
}

func hintOf(secret string) string { return secret[len(secret)-hintChars:] }

// secretPlace binds a sealed secret to its endpoint. Rotation does not change it.
func secretPlace(e Endpoint) seal.Binding {
	return seal.Binding{TenantID: string(e.TenantID), Record: string(e.ID), Field: "secret"}
}

// openSecrets returns the endpoint's secrets that are valid at now, the newest first.
func openSecrets(ctx context.Context, keyring *seal.Keyring, e Endpoint, now time.Time) ([]string, error) {
	newest, err := keyring.Open(ctx, e.SealedSecret, secretPlace(e))
	if err != nil {
		return nil, fmt.Errorf("open the secret of %s: %w", e.ID, err)
	}
	secrets := []string{string(newest)}
	for _, one := range e.rotated(now) {
		secret, err := keyring.Open(ctx, one.Sealed, secretPlace(e))
		if err != nil {
			return nil, fmt.Errorf("open a previous secret of %s: %w", e.ID, err)
		}
		secrets = append(secrets, string(secret))
	}
	return secrets, nil
}

// keys are the opened secrets of an endpoint. They are used in headers of requests and nowhere
// else.
type keys struct {
	// secrets sign, the newest first.
	secrets []string
	// headers are the customer's own, by canonical name.
	headers map[string]string
}

// openKeys opens the endpoint's secrets that are valid at now.
func openKeys(ctx context.Context, keyring *seal.Keyring, e Endpoint, now time.Time) (keys, error) {
	secrets, err := openSecrets(ctx, keyring, e, now)
	if err != nil {
		return keys{}, err
	}
	own, err := openHeaders(ctx, keyring, e)
	return keys{secrets: secrets, headers: own}, err
}

// message is the content of a request.
type message struct {
	EventID string
	Type    events.Type
	Body    []byte
	// Test says that it is an example, which Body says too.
	Test bool
	// At is when the attempt began. Receivers compare it with their clock.
	At time.Time
}

// headers signs a message, and adds the endpoint's own headers.
//
// X-Parlance-Signature is sha256= and the hex HMAC-SHA256 of the raw body, keyed with the whole
// newest secret string. webhook-signature is Standard Webhooks': for each secret "v1," and the
// base64 HMAC-SHA256 of "id.timestamp.body", keyed with the bytes behind whsec_.
func headers(m message, keys keys) http.Header {
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	signatures := make([]string, len(keys.secrets))
	for i, secret := range keys.secrets {
		signatures[i] = "v1," + standardSignature(secret, m, timestamp)
	}
	h := http.Header{}
	for name, value := range keys.headers {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", userAgent)
	h.Set("X-Parlance-Signature", "sha256="+hex.EncodeToString(mac([]byte(keys.secrets[0]), m.Body)))
	h.Set("X-Parlance-Event", string(m.Type))
	h.Set("X-Parlance-Event-Id", m.EventID)
	h.Set("X-Parlance-Timestamp", timestamp)
	if m.Test {
		h.Set("X-Parlance-Test", "true")
	}
	h.Set("Webhook-Id", m.EventID)
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
	return h
}

// messageOf is what an attempt sends at a time.
func messageOf(c claimed, at time.Time) message {
	return message{EventID: c.EventID, Type: c.EventType, Body: c.Body, Test: c.Test, At: at}
}

func standardSignature(secret string, m message, timestamp string) string {
	// mintSecret made the secret, so it always decodes.
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	return base64.StdEncoding.EncodeToString(mac(key, []byte(m.EventID), []byte("."), []byte(timestamp), []byte("."), m.Body))
}

func mac(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}
