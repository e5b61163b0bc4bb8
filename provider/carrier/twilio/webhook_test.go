package twilio_test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/twilio"
)

// TestSign has the examples that Twilio publishes: that of its page about security, and one with a
// repeated parameter from the tests of its modules.
func TestSign(t *testing.T) {
	t.Parallel()
	const target = "https://mycompany.com/myapp.php?foo=1&bar=2"
	for want, form := range map[string]url.Values{
		"RSOYDt4T1cUTdK1PDd93/VVr8B8=": {
			"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"},
		},
		"IK+Dwps556ElfBT0I3Rgjkr1wJU=": {"Sid": {"CA123"}, "SidAccount": {"AC123"}, "Digits": {"5678", "1234", "1234"}},
	} {
		if got := twilio.Sign("12345", target, form); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

const hookURL = "https://talk.example:8443/v1/telephony/twilio/status?call=call_1"

// signed is a request as Twilio makes it.
func signed(kind carrier.Kind, pairs ...string) carrier.WebhookRequest {
	form := url.Values{"CallSid": {sid}, "AccountSid": {account}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	header := http.Header{}
	header.Set(twilio.SignatureHeader, twilio.Sign(token, hookURL, form))
	return carrier.WebhookRequest{URL: hookURL, Kind: kind, Header: header, Form: form}
}

func TestRead(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	at := func(status carrier.Status) carrier.Update { return carrier.Update{ID: sid, Status: status} }
	for name, row := range map[string]struct {
		asked carrier.WebhookRequest
		want  carrier.Webhook
	}{
		"a call came in": {
			signed(carrier.Asked, "CallStatus", "ringing", "From", "+491701234567", "To", "+15005550006", "Direction", "inbound"),
			carrier.Webhook{Update: at(carrier.Ringing), From: "+491701234567", To: "+15005550006"},
		},
		"a call was answered": {
			signed(carrier.Asked, "CallStatus", "in-progress", "From", "+15005550006", "To", "+491701234567"),
			carrier.Webhook{Update: at(carrier.InProgress), From: "+15005550006", To: "+491701234567"},
		},
		"initiated": {
			signed(carrier.StatusChanged, "CallStatus", "initiated", "SequenceNumber", "0"),
			carrier.Webhook{Update: carrier.Update{ID: sid, Status: carrier.Queued, Sequence: 1}},
		},
		"completed": {
			signed(carrier.StatusChanged, "CallStatus", "completed", "SequenceNumber", "3", "CallDuration", "62", "SipResponseCode", "200",
				"Timestamp", "Tue, 13 Jan 2026 15:02:01 +0000"),
			carrier.Webhook{Update: carrier.Update{
				ID: sid, Status: carrier.Completed, Sequence: 4, At: time.Date(2026, 1, 13, 15, 2, 1, 0, time.UTC), Duration: 62 * time.Second,
			}},
		},
		"busy": {
			signed(carrier.StatusChanged, "CallStatus", "busy", "SipResponseCode", "486", "CallDuration", "0"),
			carrier.Webhook{Update: carrier.Update{ID: sid, Status: carrier.Busy, Reason: "SIP 486"}},
		},
		"failed": {
			signed(carrier.StatusChanged, "CallStatus", "failed", "SipResponseCode", "404", "ErrorCode", "32009"),
			carrier.Webhook{Update: carrier.Update{ID: sid, Status: carrier.Failed, Reason: "Twilio's error 32009"}},
		},
		"no numbers": {
			signed(carrier.StatusChanged, "CallStatus", "no-answer", "SequenceNumber", "-5", "CallDuration", "1e9", "SipResponseCode", "4<6"),
			carrier.Webhook{Update: at(carrier.NoAnswer)},
		},
		"the other leg rings": {
			signed(carrier.BridgeChanged, "CallSid", "CA2", "ParentCallSid", sid, "CallStatus", "ringing", "SequenceNumber", "1"),
			carrier.Webhook{Update: carrier.Update{ID: sid, Sequence: 2}, Bridge: carrier.Ringing},
		},
		"a talk is over": {
			signed(carrier.BridgeEnded, "CallStatus", "in-progress", "DialCallStatus", "answered", "DialCallSid", "CA2", "DialCallDuration", "9"),
			carrier.Webhook{Update: carrier.Update{ID: sid, Status: carrier.InProgress, Duration: 9 * time.Second}, Bridge: carrier.Completed},
		},
		"nobody was there": {
			signed(carrier.BridgeEnded, "DialCallStatus", "no-answer"),
			carrier.Webhook{Update: carrier.Update{ID: sid}, Bridge: carrier.NoAnswer},
		},
		"a whisper": {
			signed(carrier.Whispered, "CallSid", "CA2", "ParentCallSid", sid, "CallStatus", "in-progress"),
			carrier.Webhook{Update: carrier.Update{ID: sid}, Bridge: carrier.InProgress},
		},
	} {
		row.want.Kind = row.asked.Kind
		got, err := c.Read(row.asked)
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestReadMachine(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	for by, want := range map[string][2]bool{
		"human": {}, "unknown": {}, "machine_start": {true, false}, "fax": {true, false},
		"machine_end_beep": {true, true}, "machine_end_silence": {true, true}, "machine_end_other": {true, true},
	} {
		got, err := c.Read(signed(carrier.MachineDetected, "AnsweredBy", by))
		if err != nil || got.Human != (by == "human") ||
			got.Machine != want[0] || got.MessageNow != want[1] || got.Fax != (by == "fax") || got.ID != sid {
			t.Errorf("%s: got %+v, %v", by, got, err)
		}
	}
}

func TestHiddenCallers(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	for _, from := range []string{
		"", "anonymous", "Anonymous", "Restricted", "+266696687", "+7378742833", "+86282452253", "+464", "sip:a@b", "client:c",
	} {
		got, err := c.Read(signed(carrier.Asked, "CallStatus", "ringing", "From", from, "To", "+15005550006"))
		if err != nil || got.From != "" {
			t.Errorf("%q: got %q, %v", from, got.From, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	fine := func() carrier.WebhookRequest {
		return signed(carrier.StatusChanged, "CallStatus", "ringing", "To", "+15005550006")
	}
	if _, err := c.Read(fine()); err != nil {
		t.Fatal(err)
	}
	changed, elsewhere, unsigned, more := fine(), fine(), fine(), fine()
	changed.Form.Set("CallStatus", "completed")
	elsewhere.URL = strings.Replace(elsewhere.URL, "call_1", "call_2", 1)
	unsigned.Header.Del(twilio.SignatureHeader)
	more.Form.Set("Zone", "1")
	for name, asked := range map[string]carrier.WebhookRequest{
		"changed": changed, "elsewhere": elsewhere, "unsigned": unsigned, "more": more,
	} {
		if _, err := c.Read(asked); fault.ReasonOf(err) != fault.SignatureInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
	portless := fine()
	portless.Header.Set(twilio.SignatureHeader, twilio.Sign(token, strings.Replace(hookURL, ":8443", "", 1), portless.Form))
	if _, err := c.Read(portless); err != nil {
		t.Errorf("signed without the port: %v", err)
	}
	for name, asked := range map[string]carrier.WebhookRequest{
		"no status": signed(carrier.StatusChanged), "a status": signed(carrier.StatusChanged, "CallStatus", "paused"),
		"a kind": signed("other", "CallStatus", "ringing"), "no call": signed(carrier.StatusChanged, "CallSid", "", "CallStatus", "ringing"),
		"a path":   signed(carrier.StatusChanged, "CallSid", "../1", "CallStatus", "ringing"),
		"by":       signed(carrier.MachineDetected, "AnsweredBy", "x"),
		"a bridge": signed(carrier.BridgeEnded, "DialCallStatus", "x"), "a leg": signed(carrier.BridgeChanged, "CallStatus", "x"),
	} {
		if _, err := c.Read(asked); fault.ReasonOf(err) != fault.InvalidRequest {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzRead: whatever Twilio signs is read or refused, and ids that are read are no paths.
func FuzzRead(f *testing.F) {
	for _, kind := range []carrier.Kind{
		carrier.Asked, carrier.StatusChanged, carrier.MachineDetected, carrier.BridgeChanged, carrier.BridgeEnded, carrier.Whispered,
	} {
		f.Add(string(kind), signed(kind, "CallStatus", "ringing", "AnsweredBy", "human", "DialCallStatus", "busy").Form.Encode())
	}
	c, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: token, Client: &http.Client{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		asked := carrier.WebhookRequest{URL: hookURL, Kind: carrier.Kind(kind), Form: form, Header: http.Header{}}
		if _, err := c.Read(asked); fault.ReasonOf(err) != fault.SignatureInvalid {
			t.Fatalf("unsigned: %v", err)
		}
		asked.Header.Set(twilio.SignatureHeader, twilio.Sign(token, hookURL, form))
		hook, err := c.Read(asked)
		if err != nil {
			if reason := fault.ReasonOf(err); reason != fault.InvalidRequest {
				t.Fatalf("got %v", err)
			}
			return
		}
		if hook.ID == "" || strings.ContainsAny(string(hook.ID), "/.?#") {
			t.Fatalf("read the id %q", hook.ID)
		}
		if hook.Duration < 0 || hook.Sequence < 0 || hook.MessageNow && !hook.Machine {
			t.Fatalf("read %+v", hook)
		}
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	for want, do := range map[string]carrier.Instruction{
		`<Response></Response>`:                                                              nil,
		`<Response><Hangup></Hangup></Response>`:                                             carrier.HangUp{},
		`<Response><Reject reason="busy"></Reject></Response>`:                               carrier.Reject{Busy: true},
		`<Response><Reject reason="rejected"></Reject></Response>`:                           carrier.Reject{},
		`<Response><Say language="de-DE">A &lt; B &amp; C</Say><Hangup></Hangup></Response>`: carrier.Speak{Text: "A < B & C", Language: "de-DE"},
		`<Response><Say language="pt-BR">B</Say><Hangup></Hangup></Response>`:                carrier.Speak{Text: "B", Language: "pt"},
		`<Response><Say language="zh-TW">C</Say><Hangup></Hangup></Response>`:                carrier.Speak{Text: "C", Language: "zh-Hant"},
		`<Response><Say>&lt;/Say&gt;&lt;Dial&gt;1</Say></Response>`:                          carrier.Speak{Text: "</Say><Dial>1", Whisper: true},
		`<Response><Dial><Number>+49&#34;&gt;1</Number></Dial></Response>`:                   carrier.Bridge{To: `+49">1`},
		`<Response><Connect><Stream url="wss://a/media"><Parameter name="a" value="&#34;1"></Parameter>` +
			`<Parameter name="b" value="2"></Parameter></Stream></Connect></Response>`: carrier.Connect{
			URL: "wss://a/media", Parameters: map[string]string{"b": "2", "a": `"1`},
		},
		`<Response><Dial callerId="+15005550006" timeout="20" timeLimit="600" action="https://a/ended?x=1&amp;y=2" method="POST">` +
			`<Number url="https://a/whisper" method="POST" statusCallback="https://a/leg" statusCallbackMethod="POST" ` +
			`statusCallbackEvent="initiated ringing answered completed">+491701234567</Number></Dial></Response>`: carrier.Bridge{
			From: "+15005550006", To: "+491701234567", Ring: 20 * time.Second, MaxDuration: 10 * time.Minute,
			WhisperURL: "https://a/whisper", StatusURL: "https://a/leg", EndedURL: "https://a/ended?x=1&y=2",
		},
	} {
		got := c.Render(do)
		if string(got.Body) != xml.Header+want || !strings.HasPrefix(got.ContentType, "text/xml") {
			t.Errorf("got %s\nwant %s", got.Body, want)
		}
	}
}

// TestLongParameter: Twilio takes 500 characters of a parameter, its name included.
func TestLongParameter(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	for _, length := range []int{0, 1, 399, 400, 401, 800, 3999} {
		token := strings.Repeat("abcdefg", 600)[:length]
		var sent struct {
			Parameters []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"Connect>Stream>Parameter"`
		}
		answer := c.Render(carrier.Connect{URL: "wss://a/media", Parameters: map[string]string{"token": token}})
		if err := xml.Unmarshal(answer.Body, &sent); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, p := range sent.Parameters {
			if len(p.Name)+len(p.Value) > 500 {
				t.Errorf("of %d characters: %s has %d", length, p.Name, len(p.Value))
			}
			got[p.Name] = p.Value
		}
		if carrier.JoinPieces(got, "token") != token {
			t.Errorf("of %d characters: got %v", length, got)
		}
	}
}
