package parlance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	parlance "parlance.dev/parlance/sdk/go"
)

const (
	oldSecret = "whsec_b2xkLXNlY3JldC1vZi1hLXRlc3Q="
	newSecret = "whsec_bmV3LXNlY3JldC1vZi1hLXRlc3Q="
)

const ingested = `{"type": "kb.source_ingested", "event_id": "evt_1", "tenant_id": "ten_1", "workspace_id": "ws_1",
	"created_at": "2026-01-02T03:04:05Z", "later": true,
	"data": {"source_id": "src_1", "name": "Hours", "chunk_count": 12345678901234567890, "later": {"a": 1}}}`

// signedBy is the headers of a webhook by the public library of the scheme.
func signedBy(t *testing.T, at time.Time, body string, secrets ...string) http.Header {
	t.Helper()
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	var signatures []string
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := signer.Sign("evt_1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		signatures = append(signatures, signature)
	}
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header
}

func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	body := strings.ReplaceAll(ingested, "12345678901234567890", "12")
	without := func(name string) http.Header {
		header := signedBy(t, now, body, oldSecret)
		header.Del(name)
		return header
	}
	other := strings.ReplaceAll(body, "evt_1", "evt_2")
	altered := signedBy(t, now, body, oldSecret)
	altered.Set("webhook-signature", strings.Replace(altered.Get("webhook-signature"), "v1,", "v2,", 1))
	for name, row := range map[string]struct {
		header  http.Header
		body    string
		secrets []string
		want    error
	}{
		"OK":              {signedBy(t, now, body, oldSecret), body, []string{oldSecret}, nil},
		"Rotated":         {signedBy(t, now, body, newSecret, oldSecret), body, []string{oldSecret}, nil},
		"BothKnown":       {signedBy(t, now, body, newSecret), body, []string{oldSecret, newSecret}, nil},
		"FiveMinutesOld":  {signedBy(t, now.Add(-5*time.Minute), body, oldSecret), body, []string{oldSecret}, nil},
		"Older":           {signedBy(t, now.Add(-301*time.Second), body, oldSecret), body, []string{oldSecret}, parlance.ErrWebhookTime},
		"InTheFuture":     {signedBy(t, now.Add(301*time.Second), body, oldSecret), body, []string{oldSecret}, parlance.ErrWebhookTime},
		"AnotherSecret":   {signedBy(t, now, body, newSecret), body, []string{oldSecret}, parlance.ErrWebhookSignature},
		"AnotherBody":     {signedBy(t, now, body, oldSecret), body + " ", []string{oldSecret}, parlance.ErrWebhookSignature},
		"AnotherVersion":  {altered, body, []string{oldSecret}, parlance.ErrWebhookSignature},
		"NoId":            {without("webhook-id"), body, []string{oldSecret}, parlance.ErrWebhookHeaders},
		"NoTime":          {without("webhook-timestamp"), body, []string{oldSecret}, parlance.ErrWebhookHeaders},
		"NoSignature":     {without("webhook-signature"), body, []string{oldSecret}, parlance.ErrWebhookHeaders},
		"NoSecret":        {signedBy(t, now, body, oldSecret), body, nil, parlance.ErrWebhookSecret},
		"EmptySecrets":    {signedBy(t, now, body, oldSecret), body, []string{"", " \n"}, parlance.ErrWebhookSecret},
		"OneIsEmpty":      {signedBy(t, now, body, oldSecret), body, []string{"", oldSecret + "\n"}, nil},
		"MalformedSecret": {signedBy(t, now, body, oldSecret), body, []string{"aHVzaC1odXNo"}, parlance.ErrWebhookSecret},
		"NotJSON":         {signedBy(t, now, "{", oldSecret), "{", []string{oldSecret}, parlance.ErrWebhookBody},
		"AnotherEvent":    {signedBy(t, now, other, oldSecret), other, []string{oldSecret}, parlance.ErrWebhookBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifier := parlance.WebhookVerifier{Secrets: row.secrets, Now: func() time.Time { return now }}
			event, err := verifier.Verify(row.header, []byte(row.body))
			if !errors.Is(err, row.want) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if err != nil {
				for _, secret := range row.secrets {
					if strings.TrimSpace(secret) != "" && strings.Contains(err.Error(), secret) {
						t.Errorf("the error shows the secret: %v", err)
					}
				}
				return
			}
			payload := event.GetKbSourceIngested()
			if payload.GetSourceId() != "src_1" || event.GetType() != "kb.source_ingested" || event.IsTest ||
				event.GetData().GetFields()["name"].GetStringValue() != "Hours" || !strings.Contains(event.GetDataJson(), `"later"`) {
				t.Errorf("got %v", event)
			}
		})
	}
}

// TestVerifyExamples reads an example of every event of the contract.
func TestVerifyExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../events/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples map[string]json.RawMessage
	if err := json.Unmarshal(text, &examples); err != nil {
		t.Fatal(err)
	}
	if len(examples) < 11 {
		t.Fatalf("there are %d examples", len(examples))
	}
	for kind, data := range examples {
		body := fmt.Sprintf(`{"type": %q, "event_id": "evt_1", "test": true, "data": %s}`, kind, data)
		event, err := parlance.VerifyWebhook(signedBy(t, time.Now(), body, newSecret), []byte(body), newSecret)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		payload := event.ProtoReflect().WhichOneof(event.ProtoReflect().Descriptor().Oneofs().ByName("payload"))
		if payload == nil || !event.IsTest || event.GetDataJson() != string(data) {
			t.Errorf("%s is read as %v", kind, event)
		}
	}
	unknown := `{"type": "later.event", "event_id": "evt_1", "data": {"a": 1}}`
	event, err := parlance.VerifyWebhook(signedBy(t, time.Now(), unknown, newSecret), []byte(unknown), newSecret)
	if err != nil || event.GetType() != "later.event" || event.GetPayload() != nil || event.GetDataJson() != `{"a": 1}` {
		t.Errorf("an event that is not known: %v, %v", event, err)
	}
}
