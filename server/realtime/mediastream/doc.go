// Package mediastream speaks the protocol of telephone carriers' media sockets (Twilio's Media
// Streams) on a session's voice socket. The sound is µ-law at 8,000 Hz.
//
//	connected, start ──► ReadStart, before the socket is admitted (package realtime)
//	media ─────────────► voice.Append
//	dtmf ──────────────► voice.Key
//	mark ──────────────► how far the caller has heard (marks.go)
//	stop ──────────────► Step.HungUp
//	voice.Audio ───────► media, and a mark behind it
//	an interruption ───► clear, and live.Truncate to what the marks say was heard
//
// The carrier sends a mark back when it has played what was before it. Behind a clear it sends back
// those of what it has dropped, too: these are not counted.
//
// A caller sees nothing: what is written and not spoken is not sent. A lost connection is a lost
// call, so that there is nothing to resume.
package mediastream
