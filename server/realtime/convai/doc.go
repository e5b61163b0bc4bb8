// Package convai is the ElevenLabs Agents protocol over one conversation, as a state machine
// without input or output of its own:
//
//	client frame ───────────► commands (live.UserMessage, Respond, Configure, Feedback …), and
//	                          an error event for what does not apply here
//	conversation's event ───► frames
//
// The SDK is particular about the beginning (see Open and PauseEnded):
//
//	conversation_initiation_metadata ──40 ms──► ping
//	conversation_initiation_client_data, or another frame, or 1 s ──► Greet ──► the first message
//
// An event_id is derived from its turn's place in the session, so that every node knows which turn
// a feedback or last_event_id means: see userEventID and agentEventID.
//
// docs/realtime.md has the events and what is refused. Names and shapes were checked against the
// npm packages @elevenlabs/client 1.25.0 and @elevenlabs/types 0.23.0.
//
// The conversation decides what may be changed, answered or cancelled.
package convai
