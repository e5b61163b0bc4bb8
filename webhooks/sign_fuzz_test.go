package webhooks

import (
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// FuzzSignature receives what we sign as a customer does, with the library of Standard Webhooks and
// by hand: what was sent is taken with each secret of an overlap, and nothing else is.
func FuzzSignature(f *testing.F) {
	f.Add([]byte(`{"type":"kb.source_ingested"}`), "evt_1", []byte("key"), "v1,AAAA")
	f.Add([]byte{}, "", []byte{}, "")
	f.Add([]byte("\x00\xff"), "evt.1", []byte("."), "v1, v1,v1")
	f.Fuzz(func(t *testing.T, body []byte, id string, random []byte, forged string) {
		seeded := bytes.NewReader(append(bytes.Clone(random), make([]byte, 2*secretBytes)...))
		newest, err := mintSecret(seeded)
		if err != nil {
			t.Fatal(err)
		}
		previous, err := mintSecret(seeded)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		sent := headers(message{EventID: id, Type: "kb.source_ingested", Body: body, At: at}, keys{secrets: []string{newest, previous}})
		want := "sha256=" + hex.EncodeToString(mac([]byte(newest), body))
		if !hmac.Equal([]byte(sent.Get("X-Parlance-Signature")), []byte(want)) ||
			sent.Get("X-Parlance-Timestamp") != strconv.FormatInt(at.Unix(), 10) {
			t.Fatalf("headers %v", sent)
		}
		for _, secret := range []string{newest, previous} {
			receiver, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if id == "" {
				continue // events have ids
			}
			if err := receiver.Verify(body, sent); err != nil {
				t.Fatalf("what was sent is refused: %v", err)
			}
			if err := receiver.Verify(append(bytes.Clone(body), 'x'), sent); err == nil {
				t.Fatal("another body is taken")
			}
			other := sent.Clone()
			other.Set("Webhook-Id", id+"x")
			if err := receiver.Verify(body, other); err == nil {
				t.Fatal("another id is taken")
			}
			other = sent.Clone()
			other.Set("Webhook-Signature", forged)
			if err := receiver.Verify(body, other); err == nil && forged != sent.Get("Webhook-Signature") {
				t.Fatalf("the signature %q is taken", forged)
			}
		}
	})
}
