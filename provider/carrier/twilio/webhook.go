package twilio

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
)

// Read implements carrier.Carrier. Sequence is Twilio's SequenceNumber plus one, which begins with
// 0. Of a webhook about the other leg of a bridge ID is the call that was bridged.
func (c *Carrier) Read(r carrier.WebhookRequest) (carrier.Webhook, error) {
	if !c.isSigned(r.Header.Get(SignatureHeader), r.URL, r.Form) {
		return carrier.Webhook{}, fault.New(fault.SignatureInvalid, "The signature is not one of this Twilio account for this URL.")
	}
	read, known := readers[r.Kind]
	if !known {
		return carrier.Webhook{}, fault.New(fault.InvalidRequest, "There is no webhook of this kind.")
	}
	id := r.Form.Get("CallSid")
	if !isID(id) {
		return carrier.Webhook{}, fault.InvalidField("CallSid", "missing", "A webhook of Twilio has the CallSid of a call.")
	}
	hook := carrier.Webhook{Kind: r.Kind, Update: carrier.Update{ID: carrier.CallID(id)}}
	if err := read(&hook, r); err != nil {
		return carrier.Webhook{}, err
	}
	return hook, nil
}

// readers read what is special about a kind of webhook.
var readers = map[carrier.Kind]func(hook *carrier.Webhook, r carrier.WebhookRequest) error{
	carrier.Asked: readAsked, carrier.StatusChanged: readStatus, carrier.MachineDetected: readMachine,
	carrier.BridgeChanged: readBridge, carrier.BridgeEnded: readBridgeEnd, carrier.Whispered: readWhisper,
}

func readAsked(hook *carrier.Webhook, r carrier.WebhookRequest) error {
	hook.From, hook.To = caller(r.Form.Get("From")), r.Form.Get("To")
	return readStatus(hook, r)
}

func readStatus(hook *carrier.Webhook, r carrier.WebhookRequest) (err error) {
	if hook.Status, err = statusOf(r.Form.Get("CallStatus")); err != nil {
		return err
	}
	hook.Sequence, hook.Duration = sequence(r.Form.Get("SequenceNumber")), seconds(r.Form.Get("CallDuration"))
	hook.At, hook.Reason = timeOf(r.Form.Get("Timestamp")), reason(hook.Status, r)
	return nil
}

// answeredBy are the values of AnsweredBy, with what they say. At the end of a greeting, however it
// ended, a message can be left.
var answeredBy = map[string]struct{ human, machine, messageNow, fax bool }{
	"human": {human: true}, "unknown": {}, "machine_start": {machine: true}, "fax": {machine: true, fax: true},
	"machine_end_beep": {machine: true, messageNow: true}, "machine_end_silence": {machine: true, messageNow: true},
	"machine_end_other": {machine: true, messageNow: true},
}

func readMachine(hook *carrier.Webhook, r carrier.WebhookRequest) error {
	answered, known := answeredBy[r.Form.Get("AnsweredBy")]
	if !known {
		return fault.InvalidField("AnsweredBy", "unknown", "AnsweredBy is none of Twilio's values.")
	}
	hook.Human, hook.Machine = answered.human, answered.machine
	hook.MessageNow, hook.Fax = answered.messageNow, answered.fax
	return nil
}

func readBridge(hook *carrier.Webhook, r carrier.WebhookRequest) (err error) {
	hook.ID = bridged(r)
	if hook.Bridge, err = statusOf(r.Form.Get("CallStatus")); err != nil {
		return err
	}
	hook.Sequence, hook.Duration = sequence(r.Form.Get("SequenceNumber")), seconds(r.Form.Get("CallDuration"))
	hook.Reason = reason(hook.Bridge, r)
	return nil
}

func readBridgeEnd(hook *carrier.Webhook, r carrier.WebhookRequest) (err error) {
	said := r.Form.Get("DialCallStatus")
	if said == "answered" { // it has ended
		said = "completed"
	}
	if hook.Bridge, err = statusOf(said); err != nil {
		return err
	}
	if hook.Bridge == carrier.Completed && r.Form.Get("DialBridged") == "false" { // they hung up before
		hook.Bridge = carrier.NoAnswer
	}
	if now := r.Form.Get("CallStatus"); now != "" {
		hook.Status, err = statusOf(now)
	}
	hook.Duration = seconds(r.Form.Get("DialCallDuration"))
	return err
}

func readWhisper(hook *carrier.Webhook, r carrier.WebhookRequest) error {
	hook.ID, hook.Bridge = bridged(r), carrier.InProgress
	return nil
}

// bridged is the call to which another leg belongs.
func bridged(r carrier.WebhookRequest) carrier.CallID {
	if parent := r.Form.Get("ParentCallSid"); isID(parent) {
		return carrier.CallID(parent)
	}
	return carrier.CallID(r.Form.Get("CallSid"))
}

// statuses are Twilio's.
var statuses = map[string]carrier.Status{
	"queued": carrier.Queued, "initiated": carrier.Queued, "ringing": carrier.Ringing, "in-progress": carrier.InProgress,
	"answered": carrier.InProgress, "completed": carrier.Completed, "busy": carrier.Busy, "no-answer": carrier.NoAnswer,
	"failed": carrier.Failed, "canceled": carrier.Canceled,
}

func statusOf(said string) (carrier.Status, error) {
	if status, known := statuses[said]; known {
		return status, nil
	}
	return "", fault.InvalidField("CallStatus", "unknown", "The status is none of Twilio's.")
}

// sequence is a SequenceNumber as carrier.Update has it; 0 without one.
func sequence(said string) int {
	const most = 1 << 30
	number, err := strconv.Atoi(said)
	if err != nil || number < 0 || number > most {
		return 0
	}
	return number + 1
}

// seconds is a duration in whole seconds; 0 without one.
func seconds(said string) time.Duration {
	const most = 1 << 30
	number, err := strconv.Atoi(said)
	if err != nil || number < 0 || number > most {
		return 0
	}
	return time.Duration(number) * time.Second
}

// timeOf is a time of Twilio's, in the form of RFC 2822; zero without one.
func timeOf(said string) time.Time {
	at, err := time.Parse(time.RFC1123Z, said)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// reason is what a webhook says of a call that was not answered.
func reason(status carrier.Status, r carrier.WebhookRequest) string {
	if !status.IsFinal() || status == carrier.Completed {
		return ""
	}
	if code := code(r.Form.Get("ErrorCode")); code != "" && code != "0" {
		return fmt.Sprintf("Twilio's error %s", code)
	}
	if code := code(r.Form.Get("SipResponseCode")); code != "" {
		return fmt.Sprintf("SIP %s", code)
	}
	return ""
}

// code is a number of a few digits; empty for anything else.
func code(said string) string {
	const maxDigits = 6
	if len(said) > maxDigits || strings.Trim(said, "0123456789") != "" {
		return ""
	}
	return said
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// hidden are numbers that spell on a telephone's keys why there is none: anonymous, restricted and
// unavailable. Source: twilio.com, Why am I getting calls from these strange numbers.
var hidden = map[string]bool{"+266696687": true, "+7378742833": true, "+86282452253": true}

// caller is the number of a caller; empty when they hide it, or are no telephone.
func caller(from string) string {
	from = cmp.Or(from, "anonymous")
	if hidden[from] || !e164.MatchString(from) {
		return ""
	}
	return from
}
