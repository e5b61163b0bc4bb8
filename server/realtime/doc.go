// Package realtime serves the WebSockets of sessions:
//
//	/v1/realtime/voice/{session_id}?token=…   ws_url
//	/v1/realtime/chat/{session_id}?token=…    chat_url
//
// and each path with /realtime behind it, which is what the openai SDK makes of a base URL.
//
// and the telephone calls of carriers (media.go):
//
//	/v1/telephony/{carrier}/media             for Handler.ServeMedia
//
//	client ──► reader ──► dialect ──► live.Live.Do      the client's frames, one by one
//	       ◄── writer ◄── dialect ◄── live.Live.Poll    the conversation's events, many at once
//
// Each socket has a goroutine that reads and one that writes. The package limits what a client may
// send (rates.go), how much may wait to be written to it, and how long it may leave a ping
// unanswered.
//
// The signed URL alone decides who may connect; carriers send what is in it in their first message.
// A refusal is a problem in the HTTP answer, before
// the upgrade. After it every close has a code and a reason that do not change: close.go has those
// of this package, package live its own, docs/realtime.md all of them.
//
// A client that was lost and comes back is sent what it missed (resumable.go): from this node's
// memory, or from Redis when its last socket was on another node (frame_store.go).
//
// The dialects (openai, convai, mediastream) say what messages mean, package live what a
// conversation may do.
package realtime
