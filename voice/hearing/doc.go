// Package hearing decides whose turn it is in a spoken conversation: when the user begins to speak,
// when they have finished, and whether what they say while the agent speaks interrupts it.
//
// Everything is a plain call in audio time: the count of samples written, never a clock. A
// recording that is written faster than it was spoken gives the same turns. Only the answers of an
// EndModel come when they are ready.
//
//	               Write: 16 kHz mono           Words: from a transcriber
//	                        │                        │
//	vad.Detector ──────────►│◄───────────────────────┘
//	                      Taker ──► events: SpeechStarted, Commit, Pause, Interrupt, Resume …
//	                        ▲
//	     AgentSaid, AgentPlaying, AgentDone: what the user hears
//
// # States
//
//	listening      a sound lasts for MinSpeechMS → SpeechStarted, user speaking
//	user speaking  200 ms of silence → ending
//	ending         speech → user speaking; silence, as long as the words ask for → Commit, thinking
//	thinking       AgentPlaying → speaking; speech → SpeechStarted with Joined, user speaking
//	speaking       all was played after AgentDone → listening; speech → Pause, interrupted
//	interrupted    an interruption → Interrupt and SpeechStarted, user speaking
//	               an acknowledgement, echo, or nothing → FalseStart and Resume, speaking
//
// How long an utterance's last silence is, in the default settings: 300 ms after a finished
// sentence or a whole value, 500 ms without words, 1.6 s after words that have something to come,
// 3 s after the beginning of a value that the agent has asked for. Speakers whose pauses were
// long are given more. An EndModel is asked after 200 ms, and its answer decides from the moment
// at which it comes: the utterance ends at once, or only after 1.6 s. Until then, and when no
// answer comes, the rules above hold. An answer that comes after the user went on is dropped.
//
// What interrupts: a stop word, two words that are no acknowledgement, or speech of 500 ms
// (600 ms while a streaming transcriber's words are awaited).
//
// # How a session uses it
//
//	taker := hearing.New(hearing.Defaults(), vad.New(), nil)
//	for _, event := range taker.Write(samples) { … }
//
// Write each frame of the user's audio, and silence where a client sends none. Keep the audio of
// the last minutes: events name it by its times. Open a transcriber's stream at SpeechStarted and
// Pause, from the event's FromMS on (at Pause from PrefixMS before it), give all that it has
// understood since then to Words each time it says more, and forget it at Commit and FalseStart.
// Call AgentSaid and AgentPlaying for each sentence and each piece of sound when it is sent, with
// the times at which the client will play it: the present NowMS and what is queued at the client.
// AgentDone ends an answer, also one that says nothing.
//
// # What it does not do
//
// It stores no audio (but 8 s for an EndModel), transcribes nothing, and does not know whom the
// user is talking to: speech to somebody else in the room counts if it is as loud as the user.
package hearing
