// Package simulated is a telephone carrier without telephones: a switchboard that behaves as
// Twilio's documentation says, so that a twilio.Carrier whose base URL is the switchboard's works
// with it. `parlance dev` makes calls with it that need no account, and tests do.
//
//	REST ─────────► Switchboard.ServeHTTP      places calls, changes them, configures numbers
//	webhooks ◄───── signed as Twilio does      callback.go
//	TwiML ────────► Connect, Dial, Say, Pause, Hangup, Reject          twiml.go, bridge.go
//	media socket ◄─ one for each Connect       media.go
//	phones ◄──────► Register in Go, ServePhone over a WebSocket        phone.go, door.go
//
// A call is a goroutine that rings a phone, asks what is to be done, and does it:
//
//	queued ─► ringing ─► in-progress ─► completed
//	   └─────────┴─► busy, no-answer, canceled, failed
//
// A number without a phone rings until the time-out. Faults has things go wrong. Nothing is stored:
// it is a simulation.
package simulated
