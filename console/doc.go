// Package console is the session page at /console/: pick an agent, talk to it in text, and see what it
// did: passages with their scores, calls of tools, the receipt, where the time went, and every event of
// the socket. It is also a debugger for those who build Parlance.
//
// The files are served as they lie here: HTML, CSS and JavaScript modules, no build step, nothing from
// elsewhere. The page knows the API only; it holds no right that the key typed into it does not have.
//
//	js/app.js      the frame: key, views, theme      js/api.js        REST, errors as sentences
//	js/setup.js    what a session begins with        js/realtime.js   the socket, coming back, close codes
//	js/talk.js     the live conversation             js/now.js        what is being said in it
//	js/requests.js what the agent waits for          js/log.js        the raw events
//	js/turn.js     one turn with everything in it    js/transcript.js a session's turns, kept up to date
//	js/receipt.js  a turn's receipt                  js/timing.js     the waterfall
//	js/sessions.js past sessions                     js/dom.js        elements; text is only ever text
//
// Texts of users, agents, tools and sources are never HTML: dom.js has no way to make it of a string, and
// the Content-Security-Policy that server sends (Trusted Types) lets no other code do it.
//
// server serves the files, with their headers; it has no state.
package console
