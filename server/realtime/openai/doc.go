// Package openai is the OpenAI Realtime (GA) protocol over one conversation, as a state machine
// without input or output: frames and the core's events go in, frames and commands come out.
//
//	client frame ──Frame──► commands (conversation.UserMessage, Respond, Configure …)
//	                   └──► frames that need no conversation (error, retrieved, cleared)
//	core event ───Event───► frames, and the close frame when the session's end came
//
// Its events, their order and what is refused are in docs/realtime.md. Names and shapes were
// checked against the npm packages openai and @openai/agents-realtime, whose schemas throw or
// drop what is not as they want it; comments say where.
//
// It decides nothing about conversations: what may be changed, answered or cancelled is the core's to say.
package openai
