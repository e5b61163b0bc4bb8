// Package calls is `parlance calls`, telephone calls over a carrier, and `parlance call`, a
// telephone in the terminal on the simulated line of `parlance dev`.
//
//	line ──── events, sound ────► handset ──► one line for each event, loudspeaker, recording
//	  ◄── answer, keys, words ──     │
//	                                 └── how the callback or the call ended, what was said
package calls
