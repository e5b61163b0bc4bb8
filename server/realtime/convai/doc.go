// Package convai is the ElevenLabs Agents protocol over one conversation, as a state machine without
// input or output: frames and the core's events go in, frames and commands come out.
//
//	client frame ──Frame──► commands (conversation.UserMessage, Respond, Configure, Feedback …)
//	                   └──► an error event, for what does not apply here
//	core event ───Event───► frames
//
// The beginning, which the SDK is particular about (see Open and Wake):
//
//	conversation_initiation_metadata ──40 ms──► ping
//	conversation_initiation_client_data, or another frame, or 1 s ──► Greet ──► the first message
//
// An event_id is made of its turn's place in the session, so that every node knows which turn a
// feedback or last_event_id means: see userEvent and agentEvent.
//
// Its events and what is refused are in docs/realtime.md. Names and shapes were checked against the
// npm packages @elevenlabs/client 1.25.0 and @elevenlabs/types 0.23.0.
//
// It decides nothing about conversations: what may be changed, answered or cancelled is the core's to say.
package convai
