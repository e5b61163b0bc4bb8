// Package voice lets a user speak with an agent: it hears what a session's voice socket sends,
// decides whose turn it is, and speaks the answers.
//
//	the socket ── Append ──► decode ─► 16 kHz ─► hearing.Taker ── utterance ─► transcriber
//	                                                                              │ words
//	                                                        live.Ask ◄────────────┘
//	the conversation (package live) ── text ─► speakable.Cutter ─► synthesizer ─► player
//	the socket ◄── Audio, paced ◄────────────────────────────────────────────────────┘
//
// A Call stands between one voice socket and its [live.Live], and has the same methods: the
// conversation does not know that there is sound. Commands that are about text pass through, and
// so do events. What the conversation says of an answer is held back behind the sound of it, so
// that the end of an answer reaches the client when all of it was sent.
//
// # Clocks
//
// Whose turn it is, is decided in audio time (package hearing). The clock on the wall paces what is
// sent, and measures. A client that sends nothing is taken to be silent.
//
// # Being interrupted
//
// Speech while the agent speaks pauses the sending. Once it is judged an interruption, the client
// is told, what was not sent is dropped, the conversation's answer is cancelled, and its text is
// cut to what was heard. Otherwise the sending resumes where it stopped.
//
// # What was heard
//
// It is what was sent, less what is still ahead of real time, up to the last whole word. A client
// that knows better says so with [live.Truncate].
//
// # Files
//
//	command, event, settings, stack   what comes in, what goes out, what both depend on
//	service, call, leave              the door, how commands and events pass, and how a call ends
//	hear, utterance                   from sound to words
//	answer, message, speak, player    from words to sound
//	interrupt, wait                   when somebody speaks too early, or not at all
//	keys                              the keys of a telephone, both ways
//
// Tables: none. Events: none.
package voice
