package parlance

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// Why a webhook is not to be believed; for errors.Is.
var (
	// ErrWebhookSecret: there is no secret, or one that is not of the form whsec_….
	ErrWebhookSecret = errors.New("parlance: no usable webhook secret")
	// ErrWebhookHeaders: webhook-id, webhook-timestamp or webhook-signature is missing or malformed.
	ErrWebhookHeaders = errors.New("parlance: the webhook's headers are missing or malformed")
	// ErrWebhookTime: it was sent too long ago, or in the future: perhaps a replay, or a wrong clock.
	ErrWebhookTime = errors.New("parlance: the webhook's time is too far from now")
	// ErrWebhookSignature: nobody who knows a secret signed this body, id and time.
	ErrWebhookSignature = errors.New("parlance: the webhook's signature does not match")
	// ErrWebhookBody: the signature is right, but the body is not an event.
	ErrWebhookBody = errors.New("parlance: the webhook's body is not an event")
)

// webhookTolerance is how far the time of a webhook may be from now, before and after. Source:
// docs/webhooks.md and the Standard Webhooks specification.
const webhookTolerance = 5 * time.Minute

// WebhookEvent is an event that a webhook brought. The same event comes with the same event_id when
// it is sent again: ignore one that was stored already.
type WebhookEvent struct {
	// Event has data as the message of the event in its payload: GetPostCallTranscription() and so
	// on. The payload is empty for an event that this package does not know; data_json has it.
	*parlancev1.Event
	// IsTest is set for an example, as `parlance webhooks test` sends.
	IsTest bool
}

// VerifyWebhook checks the signature and the time of a webhook, with the headers and the body as
// they came, before anything parsed it. While a secret is rotated give both. A webhook may be 5
// minutes old or early. Errors: ErrWebhookSecret, ErrWebhookHeaders, ErrWebhookTime,
// ErrWebhookSignature, ErrWebhookBody.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (WebhookEvent, error) {
	return WebhookVerifier{Secrets: secrets}.Verify(header, body)
}

// WebhookVerifier is VerifyWebhook with another tolerance or clock.
type WebhookVerifier struct {
	// Secrets are those of the endpoint, whsec_…; several while one is rotated. Empty ones are
	// ignored, as is white space around one.
	Secrets []string
	// Tolerance is how far the time may be from now, before and after. 0: 5 minutes.
	Tolerance time.Duration
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Verify is VerifyWebhook.
func (v WebhookVerifier) Verify(header http.Header, body []byte) (WebhookEvent, error) {
	keys, err := v.keys()
	if err != nil {
		return WebhookEvent{}, err
	}
	id, stamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if id == "" || signatures == "" || err != nil {
		return WebhookEvent{}, ErrWebhookHeaders
	}
	now := v.Now
	if now == nil {
		now = time.Now
	}
	tolerance := v.Tolerance
	if tolerance <= 0 {
		tolerance = webhookTolerance
	}
	if now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return WebhookEvent{}, ErrWebhookTime
	}
	if !isSigned(keys, bytes.Join([][]byte{[]byte(id), []byte(stamp), body}, []byte(".")), signatures) {
		return WebhookEvent{}, ErrWebhookSignature
	}
	event, err := eventOf(body)
	if err == nil && event.GetEventId() != id {
		err = fmt.Errorf("%w: it is not the one that webhook-id names", ErrWebhookBody)
	}
	return event, err
}

func (v WebhookVerifier) keys() ([][]byte, error) {
	var keys [][]byte
	for _, secret := range v.Secrets {
		secret = strings.TrimSpace(secret)
		if secret == "" {
			continue
		}
		encoded, prefixed := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !prefixed || err != nil || len(key) == 0 {
			return nil, ErrWebhookSecret
		}
		keys = append(keys, key)
	}
	if keys == nil {
		return nil, ErrWebhookSecret
	}
	return keys, nil
}

// isSigned reports whether one of the signatures is by one of the keys. All are compared, each in
// constant time.
func isSigned(keys [][]byte, signed []byte, signatures string) bool {
	found := false
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		want := mac.Sum(nil)
		for one := range strings.FieldsSeq(signatures) {
			encoded, isV1 := strings.CutPrefix(one, "v1,")
			got, err := base64.StdEncoding.DecodeString(encoded)
			if isV1 && err == nil && hmac.Equal(got, want) {
				found = true
			}
		}
	}
	return found
}

// eventOf reads the body of a webhook.
func eventOf(body []byte) (WebhookEvent, error) {
	event := &parlancev1.Event{}
	var parts struct {
		Test bool            `json:"test"`
		Data json.RawMessage `json:"data"`
	}
	// Later versions of the service only add members.
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := errors.Join(json.Unmarshal(body, &parts), lenient.Unmarshal(body, event)); err != nil {
		return WebhookEvent{}, fmt.Errorf("%w: %w", ErrWebhookBody, err)
	}
	event.DataJson = string(parts.Data)
	payload := event.ProtoReflect().Descriptor().Oneofs().ByName("payload")
	for i := range payload.Fields().Len() {
		field := payload.Fields().Get(i)
		options, ok := field.Message().Options().(*descriptorpb.MessageOptions)
		if !ok || len(parts.Data) == 0 || proto.GetExtension(options, parlancev1.E_Event) != event.GetType() {
			continue
		}
		value := event.ProtoReflect().NewField(field)
		if err := lenient.Unmarshal(parts.Data, value.Message().Interface()); err != nil {
			return WebhookEvent{}, fmt.Errorf("%w: %w", ErrWebhookBody, err)
		}
		event.ProtoReflect().Set(field, value)
	}
	return WebhookEvent{Event: event, IsTest: parts.Test}, nil
}
