package twilio

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
)

const (
	callsPath   = "/Calls.json"
	numbersPath = "/IncomingPhoneNumbers.json"

	post = "POST"
	// codeNotInProgress is Twilio's error for changing a call that is over.
	codeNotInProgress = "21220"
	// codeNotFound is ours, where Twilio answers with an empty list.
	codeNotFound = "not-found"
	// codeInactive is ours, for an account that may make no calls.
	codeInactive = "account-not-active"
	// foundAtMost is how many of the newest calls between two numbers are looked at.
	foundAtMost = 200
)

// progress are the events of a call of which a webhook is told.
var progress = []string{"initiated", "ringing", "answered", "completed"}

// Place implements carrier.Carrier.
func (c *Carrier) Place(ctx context.Context, p carrier.PlaceParams) (carrier.CallID, error) {
	form := url.Values{"To": {p.To}, "From": {p.From}, "Url": {p.AnswerURL}, "Method": {post}}
	if p.StatusURL != "" {
		form.Set("StatusCallback", p.StatusURL)
		form.Set("StatusCallbackMethod", post)
		form["StatusCallbackEvent"] = progress
	}
	if p.MachineURL != "" {
		form.Set("MachineDetection", "DetectMessageEnd")
		form.Set("AsyncAmd", "true")
		form.Set("AsyncAmdStatusCallback", p.MachineURL)
		form.Set("AsyncAmdStatusCallbackMethod", post)
	}
	setSeconds(form, "Timeout", p.Ring)
	setSeconds(form, "TimeLimit", p.MaxDuration)
	var placed call
	if err := c.post(ctx, callsPath, form, &placed); err != nil {
		return "", err
	}
	if placed.SID == "" {
		return "", fault.New(fault.UpstreamFailed, "Twilio answered something other than a call.")
	}
	return placed.SID, nil
}

// setSeconds sets a parameter to whole seconds, unless the duration is 0.
func setSeconds(form url.Values, name string, d time.Duration) {
	if d > 0 {
		form.Set(name, strconv.Itoa(int(d/time.Second)))
	}
}

// call is a call as Twilio shows it.
type call struct {
	SID         carrier.CallID `json:"sid"`
	Status      string         `json:"status"`
	Direction   string         `json:"direction"`
	From        string         `json:"from"`
	To          string         `json:"to"`
	Duration    string         `json:"duration"`
	DateCreated string         `json:"date_created"`
	EndTime     string         `json:"end_time"`
}

// update is what the call says.
func (c call) update() (carrier.Update, error) {
	status, err := statusOf(c.Status)
	if err != nil || c.SID == "" {
		return carrier.Update{}, fault.New(fault.UpstreamFailed, "Twilio answered something other than a call.")
	}
	return carrier.Update{ID: c.SID, Status: status, At: timeOf(c.EndTime), Duration: seconds(c.Duration)}, nil
}

// Find implements carrier.Carrier. It does not use Twilio's filter by the time of the start: a call
// that still waits in Twilio's queue has none.
func (c *Carrier) Find(ctx context.Context, p carrier.FindParams) ([]carrier.Update, error) {
	query := url.Values{"To": {p.To}, "From": {p.From}, "PageSize": {strconv.Itoa(foundAtMost)}}
	var list struct {
		Calls []call `json:"calls"`
	}
	if err := c.get(ctx, callsPath, query, &list); err != nil {
		return nil, asUpstream(err)
	}
	since := p.Since.Truncate(time.Second) // Twilio's times are in whole seconds
	placedAt := func(one call) time.Time { return timeOf(one.DateCreated) }
	placed := slices.DeleteFunc(list.Calls, func(one call) bool {
		return placedAt(one).Before(since) || one.Direction != "outbound-api" || one.From != p.From || one.To != p.To
	})
	slices.SortStableFunc(placed, func(a, b call) int { return placedAt(b).Compare(placedAt(a)) })
	found := make([]carrier.Update, len(placed))
	for i, one := range placed {
		var err error
		if found[i], err = one.update(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// asUpstream is the error of a question that only a mistake of the operator's has refused.
func asUpstream(err error) error {
	if refused, ok := errors.AsType[*carrier.Refused](err); ok {
		return fault.Wrap(refused, fault.UpstreamFailed, "Twilio does not answer: %s", refused.Message)
	}
	return err
}

// Look implements carrier.Carrier.
func (c *Carrier) Look(ctx context.Context, id carrier.CallID) (carrier.Update, error) {
	path, err := callPath(id)
	if err != nil {
		return carrier.Update{}, err
	}
	var found call
	if err := c.get(ctx, path, nil, &found); err != nil {
		return carrier.Update{}, err
	}
	return found.update()
}

// callPath is the path of a call.
func callPath(id carrier.CallID) (string, error) {
	if !isID(string(id)) {
		return "", &carrier.Refused{Code: codeNotFound, Message: "There is no such call."}
	}
	return "/Calls/" + string(id) + ".json", nil
}

// Instruct implements carrier.Carrier.
func (c *Carrier) Instruct(ctx context.Context, id carrier.CallID, i carrier.Instruction) error {
	path, err := callPath(id)
	if err != nil {
		return err
	}
	form := url.Values{}
	if _, is := i.(carrier.HangUp); is {
		form.Set("Status", "completed") // it ends a call that rings as well
	} else {
		form.Set("Twiml", string(c.Render(i).Body))
	}
	var changed call
	err = c.post(ctx, path, form, &changed)
	if refused, is := errors.AsType[*carrier.Refused](err); is && refused.Code == codeNotInProgress && c.isOver(ctx, id) {
		return nil
	}
	return err
}

// isOver reports whether a call is known to be over.
func (c *Carrier) isOver(ctx context.Context, id carrier.CallID) bool {
	now, err := c.Look(ctx, id)
	return err == nil && now.Status.IsFinal()
}

// Configure implements carrier.Carrier.
func (c *Carrier) Configure(ctx context.Context, number, webhookURL string) error {
	var list struct {
		Numbers []struct {
			SID    string `json:"sid"`
			Number string `json:"phone_number"`
		} `json:"incoming_phone_numbers"`
	}
	if err := c.get(ctx, numbersPath, url.Values{"PhoneNumber": {number}}, &list); err != nil {
		return err
	}
	for _, found := range list.Numbers { // the parameter is a pattern
		if found.Number != number || !isID(found.SID) {
			continue
		}
		// An application would have precedence over the URL.
		form := url.Values{"VoiceUrl": {webhookURL}, "VoiceMethod": {post}, "VoiceApplicationSid": {""}}
		return c.post(ctx, "/IncomingPhoneNumbers/"+found.SID+".json", form, &struct{}{})
	}
	return &carrier.Refused{Code: codeNotFound, Message: "The number is not one of the carrier's account."}
}

// Check implements carrier.Carrier.
func (c *Carrier) Check(ctx context.Context) error {
	var account struct {
		Status string `json:"status"`
	}
	if err := c.get(ctx, ".json", nil, &account); err != nil {
		return err
	}
	if account.Status != "active" {
		return &carrier.Refused{Code: codeInactive, Message: "The Twilio account is " + c.shown(account.Status) + "."}
	}
	return nil
}
