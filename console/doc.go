// Package console is the session page at /console/: pick an agent, type or talk, and see what it
// did: passages with their scores, calls of tools, the receipt, the time of each stage, and every
// event of the sockets. It is also a debugger for the developers of Parlance.
//
// The files are served as they are: HTML, CSS and JavaScript modules, without a build step, and
// nothing from other hosts. The page uses the API alone, with the rights of the key that the user
// enters.
//
//	js/app.js         the frame of the page: key, views, theme
//	js/api.js         REST, errors as sentences
//	js/setup.js       the settings of a new session
//	js/talk.js        the live conversation
//	js/now.js         its exchanges in progress
//	js/realtime.js    a socket: reconnects, close codes
//	js/voice.js       the voice socket, and what it does with microphone and loudspeaker
//	js/voicepanel.js  its buttons, levels, and who speaks
//	js/latency.js     the stages from the end of the user's speech to the first sound
//	js/sound.js       the microphone and the loudspeaker, which run on the audio thread:
//	                  js/microphone-worklet.js and js/player-worklet.js
//	js/playqueue.js   what waits to be played, and how much was
//	js/pcm.js         samples: rates, PCM, loudness
//	js/requests.js    what the agent waits for
//	js/log.js         the raw events
//	js/transcript.js  a session's turns, kept up to date
//	js/turn.js        the card of a turn
//	js/receipt.js     a turn's receipt
//	js/timing.js      a turn's stages as bars
//	js/sessions.js    past sessions
//	js/dom.js         elements
//
// Texts of users, agents, tools and sources are never HTML: dom.js cannot make HTML from a string,
// and the Content-Security-Policy of package server (Trusted Types) keeps any other code from it.
//
// Package server serves the files with their headers.
package console
