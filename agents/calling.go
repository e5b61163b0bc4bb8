package agents

import (
	"cmp"
	"time"

	"parlance.dev/parlance/platform/phone"
)

// Defaults of Callbacks. Source: decisions, Memory, persona, callbacks; the length of ringing is
// Twilio's usual one.
const (
	DefaultQuietFrom           = "21:00"
	DefaultQuietUntil          = "08:00"
	DefaultMinIntervalMinutes  = 240
	DefaultRingSeconds         = 30
	DefaultTransferRingSeconds = 25
)

// What follows when an answering machine answers.
const (
	VoicemailHangUp       = "hang_up"
	VoicemailLeaveMessage = "leave_message"
)

// The modes of a transfer: Warm has the person hear a summary first.
const (
	Cold = "cold"
	Warm = "warm"
)

// Callbacks says when and whom an agent may call. Source: agents.proto.
type Callbacks struct {
	// Countries are ISO 3166-1 alpha-2; empty allows all.
	Countries []string `json:"countries,omitempty"`
	// QuietFrom and QuietUntil are local times, HH:MM; empty is the default.
	QuietFrom  string `json:"quiet_from,omitempty"`
	QuietUntil string `json:"quiet_until,omitempty"`
	// MinIntervalMinutes is the least time between two calls of one user; nil is the default.
	MinIntervalMinutes *int   `json:"min_interval_minutes,omitempty"`
	RequireConsent     bool   `json:"require_consent,omitempty"`
	FromNumber         string `json:"from_number,omitempty"`
	// Voicemail is VoicemailHangUp when empty.
	Voicemail        string `json:"voicemail,omitempty"`
	VoicemailMessage string `json:"voicemail_message,omitempty"`
	RingSeconds      int    `json:"ring_seconds,omitempty"`
	// PressKeys offers the model the tool press_keys in calls.
	PressKeys bool `json:"press_keys,omitempty"`
}

// Quiet are the local times between which nobody is called; the same ones: there are none.
func (c Callbacks) Quiet() (from, until string) {
	return cmp.Or(c.QuietFrom, DefaultQuietFrom), cmp.Or(c.QuietUntil, DefaultQuietUntil)
}

// MinInterval is the least time between two calls of one user.
func (c Callbacks) MinInterval() time.Duration {
	if c.MinIntervalMinutes == nil {
		return DefaultMinIntervalMinutes * time.Minute
	}
	return time.Duration(*c.MinIntervalMinutes) * time.Minute
}

// Ring is how long it rings.
func (c Callbacks) Ring() time.Duration {
	return time.Duration(cmp.Or(c.RingSeconds, DefaultRingSeconds)) * time.Second
}

// InForce has the default in place of each setting that was left out.
func (c Callbacks) InForce() Callbacks {
	c.QuietFrom, c.QuietUntil = c.Quiet()
	c.MinIntervalMinutes = new(int(c.MinInterval().Minutes()))
	c.Voicemail = cmp.Or(c.Voicemail, VoicemailHangUp)
	c.RingSeconds = int(c.Ring().Seconds())
	return c
}

// Handover says whether and how conversations are handed over to people. Source: agents.proto.
type Handover struct {
	Enabled      bool          `json:"enabled,omitempty"`
	Destinations []Destination `json:"destinations,omitempty"`
	// Mode is Cold when empty.
	Mode        string `json:"mode,omitempty"`
	RingSeconds int    `json:"ring_seconds,omitempty"`
}

// Destination is a number at which people answer.
type Destination struct {
	Name        string `json:"name"`
	PhoneNumber string `json:"phone_number"`
}

// Ring is how long it rings at a person's.
func (h Handover) Ring() time.Duration {
	return time.Duration(cmp.Or(h.RingSeconds, DefaultTransferRingSeconds)) * time.Second
}

// InForce has the default in place of each setting that was left out.
func (h Handover) InForce() Handover {
	h.Mode, h.RingSeconds = cmp.Or(h.Mode, Cold), int(h.Ring().Seconds())
	return h
}

// Destination finds a destination by its name; the first one for an empty name.
func (h Handover) Destination(name string) (Destination, bool) {
	for _, d := range h.Destinations {
		if name == "" || d.Name == name {
			return d, true
		}
	}
	return Destination{}, false
}

// checkCalling refuses settings that do not go together.
func (c Config) checkCalling(add func(field, code, message string)) {
	switch {
	case c.Callbacks.Voicemail == VoicemailLeaveMessage && c.Callbacks.VoicemailMessage == "":
		add("callbacks.voicemail_message", "required", "Say what is left on an answering machine.")
	case c.Callbacks.Voicemail != VoicemailLeaveMessage && c.Callbacks.VoicemailMessage != "":
		add("callbacks.voicemail_message", "unused", `It is only left with voicemail "leave_message".`)
	}
	for _, country := range c.Callbacks.Countries {
		if !phone.KnownCountry(country) {
			add("callbacks.countries", "country", "There is no country "+country+" with telephone numbers; codes are ISO 3166-1, such as DE.")
		}
	}
	known := map[string]bool{}
	for _, d := range c.Handover.Destinations {
		if known[d.Name] {
			add("handover.destinations", "duplicate", "Two destinations have the name "+d.Name+"; the model chooses by it.")
			return
		}
		known[d.Name] = true
		if _, ok := phone.Parse(d.PhoneNumber); !ok {
			add("handover.destinations", "phone_number", d.PhoneNumber+" is no telephone number with its country's code.")
		}
	}
}
