package twilio

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"parlance.dev/parlance/provider/carrier"
)

// response is a TwiML document. Its verbs are carried out in order.
type response struct {
	XMLName xml.Name `xml:"Response"`
	Connect *connect `xml:"Connect"`
	Dial    *dial    `xml:"Dial"`
	Say     *say     `xml:"Say"`
	Hangup  *hangup  `xml:"Hangup"`
	Reject  *reject  `xml:"Reject"`
}

type connect struct {
	Stream stream `xml:"Stream"`
}

type stream struct {
	URL        string      `xml:"url,attr"`
	Parameters []parameter `xml:"Parameter"`
}

type parameter struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type dial struct {
	CallerID  string `xml:"callerId,attr,omitempty"`
	Timeout   int    `xml:"timeout,attr,omitempty"`
	TimeLimit int    `xml:"timeLimit,attr,omitempty"`
	Action    string `xml:"action,attr,omitempty"`
	Method    string `xml:"method,attr,omitempty"`
	Number    number `xml:"Number"`
}

type number struct {
	URL            string `xml:"url,attr,omitempty"`
	Method         string `xml:"method,attr,omitempty"`
	StatusCallback string `xml:"statusCallback,attr,omitempty"`
	StatusMethod   string `xml:"statusCallbackMethod,attr,omitempty"`
	StatusEvents   string `xml:"statusCallbackEvent,attr,omitempty"`
	Number         string `xml:",chardata"`
}

type say struct {
	Language string `xml:"language,attr,omitempty"`
	Text     string `xml:",chardata"`
}

type hangup struct{}

type reject struct {
	Reason string `xml:"reason,attr"`
}

// Render implements carrier.Carrier. The answer to nothing is an empty document: a person who is
// whispered nothing is connected.
func (c *Carrier) Render(i carrier.Instruction) carrier.Answer {
	var r response
	switch i := i.(type) {
	case carrier.Connect:
		r.Connect = &connect{Stream: stream{URL: i.URL}}
		for _, name := range slices.Sorted(maps.Keys(i.Parameters)) {
			r.Connect.Stream.Parameters = append(r.Connect.Stream.Parameters, parametersOf(name, i.Parameters[name])...)
		}
	case carrier.Bridge:
		r.Dial = dialOf(i)
	case carrier.Speak:
		r.Say = &say{Language: withRegion(i.Language), Text: i.Text}
		if !i.Whisper {
			r.Hangup = &hangup{}
		}
	case carrier.HangUp:
		r.Hangup = &hangup{}
	case carrier.Reject:
		r.Reject = &reject{Reason: "rejected"}
		if i.Busy {
			r.Reject.Reason = "busy"
		}
	}
	body, err := xml.Marshal(r)
	if err != nil { // structs of texts and numbers always encode
		panic(err)
	}
	return carrier.Answer{ContentType: "text/xml; charset=utf-8", Body: append([]byte(xml.Header), body...)}
}

// withRegion is a language as Twilio's <Say> names it: de-DE for de, zh-TW for zh-Hant. Source:
// twilio.com/docs/voice/twiml/say, languages.
func withRegion(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil { // none, so that it is Twilio's default
		return ""
	}
	base, _ := parsed.Base()
	region, _ := parsed.Region()
	return base.String() + "-" + region.String()
}

// maxParameterBytes is the most that a parameter of a stream has, less some for its name. Source:
// twilio.com/docs/voice/twiml/stream, custom parameters: name and value together at most 500
// characters.
const maxParameterBytes = 400

// parametersOf is a parameter in as many pieces as Twilio needs.
func parametersOf(name, value string) (pieces []parameter) {
	piece := name
	for len(value) > maxParameterBytes {
		pieces = append(pieces, parameter{piece, value[:maxParameterBytes]})
		value, piece = value[maxParameterBytes:], carrier.NextPiece(name, len(pieces))
	}
	return append(pieces, parameter{piece, value})
}

func dialOf(b carrier.Bridge) *dial {
	d := &dial{
		CallerID: b.From, Timeout: int(b.Ring / time.Second), TimeLimit: int(b.MaxDuration / time.Second),
		Action: b.EndedURL, Number: number{URL: b.WhisperURL, StatusCallback: b.StatusURL, Number: b.To},
	}
	if b.EndedURL != "" {
		d.Method = post
	}
	if b.WhisperURL != "" {
		d.Number.Method = post
	}
	if b.StatusURL != "" {
		d.Number.StatusMethod, d.Number.StatusEvents = post, strings.Join(progress, " ")
	}
	return d
}
