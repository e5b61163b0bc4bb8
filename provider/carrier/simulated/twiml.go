package simulated

import (
	"context"
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// document is a TwiML document.
type document struct {
	XMLName xml.Name
	Verbs   []node `xml:",any"`
}

// node is an element.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

func (n *node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// child is the first element within with a name; nil: there is none.
func (n *node) child(name string) *node {
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == name {
			return &n.Nodes[i]
		}
	}
	return nil
}

// first is the name of the first verb; empty: there is none.
func (d *document) first() string {
	if d == nil || len(d.Verbs) == 0 {
		return ""
	}
	return d.Verbs[0].XMLName.Local
}

func parse(body []byte) (*document, error) {
	var d document
	if err := xml.Unmarshal(body, &d); err != nil { //nolint:gosec // a type of strings, and at most maxDocumentBytes
		return nil, err
	}
	return &d, nil
}

// perChar is how long the carrier's own voice takes for a character.
const perChar = 60 * time.Millisecond

// carryOut does what documents say until there is nothing more to do, or the call is over.
func (c *call) carryOut(d *document) {
	for d != nil && c.life.Err() == nil {
		ctx, cancel := context.WithCancel(c.life)
		c.mu.Lock()
		c.interrupt = cancel
		if c.next != nil { // it came before
			d, c.next = c.next, nil
		}
		c.mu.Unlock()
		d = c.do(ctx, d)
		cancel()
		c.mu.Lock()
		if c.next != nil {
			d, c.next = c.next, nil
		}
		c.mu.Unlock()
	}
}

// do carries out the verbs of a document, and returns the one that follows it; nil: none does.
func (c *call) do(ctx context.Context, d *document) *document {
	for i := range d.Verbs {
		if ctx.Err() != nil {
			return nil
		}
		switch v := &d.Verbs[i]; v.XMLName.Local {
		case "Connect":
			if s := v.child("Stream"); s != nil {
				c.stream(ctx, s)
			}
		case "Dial":
			if next := c.dial(ctx, v); next != nil {
				return next
			}
		case "Say":
			c.say(ctx, c.currentLeg(), v)
		case "Pause":
			_ = c.s.wait(ctx, secondsOf(v.attr("length"), time.Second)) // ctx is looked at above
		case "Hangup", "Reject":
			return nil
		default:
			c.s.o.Log.Warn("the switchboard does not know a verb of TwiML", "verb", v.XMLName.Local)
		}
	}
	return nil
}

// say has the carrier's own voice say a text to a leg.
func (c *call) say(ctx context.Context, l *leg, v *node) {
	text := strings.TrimSpace(v.Text)
	l.phone.notice(Event{Kind: EventSay, Text: text})
	_ = c.s.wait(ctx, time.Duration(utf8.RuneCountInString(text))*perChar) // the caller looks at ctx
}

// ask fetches a document. Without one there is nothing to do.
func (c *call) ask(target string, more url.Values) *document {
	body, err := c.s.post(c.life, target, c.form(more))
	if err != nil {
		c.s.o.Log.Warn("the switchboard was not told what to do", "error", err)
		return nil
	}
	d, err := parse(body)
	if err != nil {
		c.s.o.Log.Warn("the switchboard was told something other than TwiML", "error", err)
		return nil
	}
	return d
}

// form is what every webhook of the call says.
func (c *call) form(more url.Values) url.Values {
	c.mu.Lock()
	defer c.mu.Unlock()
	form := url.Values{
		"CallSid": {c.sid}, "AccountSid": {c.s.o.AccountSID}, "From": {c.from}, "To": {c.to}, "CallStatus": {c.status},
		"Direction": {c.direction}, "ApiVersion": {"2010-04-01"},
	}
	if c.parent != "" {
		form.Set("ParentCallSid", c.parent)
	}
	for name, values := range more {
		form[name] = values
	}
	return form
}

// inSeconds is a duration as webhooks have it.
func inSeconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
