package simulated

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier/twilio"
)

const (
	// defaultRequestTimeout is Twilio's.
	defaultRequestTimeout = 15 * time.Second
	maxDocumentBytes      = 64 << 10
)

// post calls a webhook, and returns the answer. Errors: it cannot be reached, or answers other than
// 2xx.
func (s *Switchboard) post(ctx context.Context, target string, form url.Values) ([]byte, error) {
	faults := s.failing()
	if err := s.wait(ctx, faults.CallbackDelay); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.RequestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	token := s.o.AuthToken
	if faults.ForgeSignatures {
		token = seal.Secret("another token")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	req.Header.Set("User-Agent", "TwilioProxy/1.1")
	req.Header.Set(twilio.SignatureHeader, twilio.Sign(token, target, form))
	res, err := s.o.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: an error changes nothing
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocumentBytes))
	if err == nil && (res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices) {
		err = fmt.Errorf("the webhook answered %d", res.StatusCode)
	}
	return body, err
}

// eventOf are the events that statuses are, in the parameter StatusCallbackEvent.
var eventOf = map[string]string{statusInitiated: "initiated", statusRinging: "ringing", statusInProgress: "answered"}

// tell changes the status, and tells the service of it. A call that is over has no other status.
func (c *call) tell(status, sip string) {
	c.mu.Lock()
	if isFinal(c.status) {
		c.mu.Unlock()
		return
	}
	if status != statusInitiated {
		c.status = status
	}
	sequence := c.sequence
	c.sequence++
	duration := c.duration
	c.mu.Unlock()
	event, known := eventOf[status]
	if !known {
		event = "completed"
	}
	wanted := c.statusEvents
	if len(wanted) == 0 {
		wanted = []string{"completed"}
	}
	if c.statusURL == "" || !slices.Contains(wanted, event) {
		return
	}
	said := url.Values{
		"CallStatus": {status}, "SequenceNumber": {strconv.Itoa(sequence)}, "CallbackSource": {"call-progress-events"},
		"Timestamp": {c.s.o.Now().UTC().Format(time.RFC1123Z)},
	}
	if event == "completed" {
		said.Set("CallDuration", inSeconds(duration))
	}
	if sip != "" {
		said.Set("SipResponseCode", sip)
	}
	c.told.put(callback{c.statusURL, c.form(said)})
}

type callback struct {
	target string
	form   url.Values
}

// outbox delivers what the service is told of one call, in order.
type outbox struct {
	once    sync.Once
	waiting chan callback
}

// maxTold is more than a call has statuses.
const maxTold = 8

func (o *outbox) queue() chan callback {
	o.once.Do(func() { o.waiting = make(chan callback, maxTold) })
	return o.waiting
}

func (o *outbox) put(c callback) { o.queue() <- c }
func (o *outbox) close()         { close(o.queue()) }

// deliver delivers until the call is over.
func (o *outbox) deliver(s *Switchboard) {
	var last *callback
	for c := range o.queue() {
		send := []callback{c}
		if last != nil && s.failing().RepeatCallbacks {
			send = append(send, *last)
		}
		for _, one := range send {
			if _, err := s.post(s.life, one.target, one.form); err != nil {
				s.o.Log.Warn("the switchboard could not tell of a call", "error", err)
			}
		}
		last = &c
	}
}
