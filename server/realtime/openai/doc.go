// Package openai is the OpenAI Realtime protocol (GA) over one conversation, as a state machine
// without input or output of its own:
//
//	client frame ───────────► commands (live.UserMessage, Respond, Configure …), and frames that
//	                          need no conversation (error, retrieved, cleared)
//	conversation's event ───► frames
//
// protocol.go has the calls of the socket and the tables of events; docs/realtime.md the events,
// their order and what is refused. Names and shapes were checked against the npm packages openai
// and @openai/agents-realtime, whose schemas throw errors at, or drop, what they do not expect;
// comments say where.
//
// The conversation decides what may be changed, answered or cancelled.
package openai
