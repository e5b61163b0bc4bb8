package rpc

import (
	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func agentCallbacks(c *parlancev1.AgentCallbacks) agents.Callbacks {
	converted := agents.Callbacks{
		Countries: c.GetCountries(), QuietFrom: c.GetQuietFrom(), QuietUntil: c.GetQuietUntil(), RequireConsent: c.GetRequireConsent(),
		FromNumber: c.GetFromNumber(), Voicemail: c.GetVoicemail(), VoicemailMessage: c.GetVoicemailMessage(),
		RingSeconds: int(c.GetRingSeconds()), PressKeys: c.GetPressKeys(),
	}
	if c != nil && c.MinIntervalMinutes != nil {
		converted.MinIntervalMinutes = new(int(c.GetMinIntervalMinutes()))
	}
	return converted
}

// agentCallbacksProto shows the values in force.
func agentCallbacksProto(c agents.Callbacks) *parlancev1.AgentCallbacks {
	c = c.InForce()
	return &parlancev1.AgentCallbacks{
		Countries: c.Countries, QuietFrom: &c.QuietFrom, QuietUntil: &c.QuietUntil, MinIntervalMinutes: new(int32Of(*c.MinIntervalMinutes)),
		RequireConsent: c.RequireConsent, FromNumber: c.FromNumber, Voicemail: c.Voicemail,
		VoicemailMessage: c.VoicemailMessage, RingSeconds: int32Of(c.RingSeconds), PressKeys: c.PressKeys,
	}
}

func agentHandover(h *parlancev1.AgentHandover) agents.Handover {
	return agents.Handover{
		Enabled: h.GetEnabled(), Mode: h.GetMode(), RingSeconds: int(h.GetRingSeconds()),
		Destinations: each(h.GetDestinations(), func(d *parlancev1.HandoverDestination) agents.Destination {
			return agents.Destination{Name: d.GetName(), PhoneNumber: d.GetPhoneNumber()}
		}),
	}
}

func agentHandoverProto(h agents.Handover) *parlancev1.AgentHandover {
	h = h.InForce()
	return &parlancev1.AgentHandover{
		Enabled: h.Enabled, Mode: h.Mode, RingSeconds: int32Of(h.RingSeconds),
		Destinations: each(h.Destinations, func(d agents.Destination) *parlancev1.HandoverDestination {
			return &parlancev1.HandoverDestination{Name: d.Name, PhoneNumber: d.PhoneNumber}
		}),
	}
}
