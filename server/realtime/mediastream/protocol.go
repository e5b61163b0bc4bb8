package mediastream

import "encoding/json"

// The events of the protocol. Source: twilio.com/docs/voice/media-streams/websocket-messages.
const (
	eventConnected = "connected"
	eventStart     = "start"
	eventMedia     = "media"
	eventDTMF      = "dtmf"
	eventMark      = "mark"
	eventStop      = "stop"
	eventClear     = "clear"
)

// trackOutbound is the sound of the agent itself, which the carrier may be told to send too.
const trackOutbound = "outbound"

// message is what the carrier sends.
type message struct {
	Event string        `json:"event"`
	Media *carrierMedia `json:"media"`
	DTMF  struct {
		Digit string `json:"digit"`
	} `json:"dtmf"`
	Mark  markName `json:"mark"`
	Start struct {
		StreamSID   string            `json:"streamSid"`
		CallSID     string            `json:"callSid"`
		MediaFormat mediaFormat       `json:"mediaFormat"`
		Parameters  map[string]string `json:"customParameters"`
	} `json:"start"`
}

type carrierMedia struct {
	Track   string `json:"track"`
	Payload []byte `json:"payload"`
}

type mediaFormat struct {
	Encoding   string      `json:"encoding"`
	SampleRate json.Number `json:"sampleRate"`
	Channels   json.Number `json:"channels"`
}

type markName struct {
	Name string `json:"name"`
}

// media, mark and clear are what the carrier is sent.
type media struct {
	Event     string  `json:"event"`
	StreamSID string  `json:"streamSid"`
	Media     payload `json:"media"`
}

type payload struct {
	Payload []byte `json:"payload"`
}

type mark struct {
	Event     string   `json:"event"`
	StreamSID string   `json:"streamSid"`
	Mark      markName `json:"mark"`
}

type clearBuffer struct {
	Event     string `json:"event"`
	StreamSID string `json:"streamSid"`
}
