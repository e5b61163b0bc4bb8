// Package realtime is the WebSockets of a session:
//
//	/v1/realtime/voice/{session_id}?token=…   ws_url
//	/v1/realtime/chat/{session_id}?token=…    chat_url
//
// and each with /realtime appended, which is what the openai SDK makes of a base URL.
//
//	client ──► reader ──► dialect ──► conversation.Live.Do      the client's frames, one after the other
//	       ◄── writer ◄── dialect ◄── conversation.Live.Poll    the core's events, many at once
//
// A socket has a goroutine that reads; the writer is there while there is something to write (write.go), and one
// goroutine pings them all (beats.go). What a client may send
// is counted (meter.go); what it does not read is bounded.
//
// The signed URL alone decides who may come in; refusals are problems in the HTTP answer, before
// the upgrade. Afterwards every close has a code and a reason that do not change: close.go has
// those of this package, conversation those of the core, docs/realtime.md all of them.
//
// What the messages mean is the dialect's (package openai); what a conversation may do is the core's.
package realtime
