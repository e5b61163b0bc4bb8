// Package espeak speaks with espeak-ng, a program that is run once for each sentence, in a sandbox.
//
//	text ─► stdin ─► espeak-ng --stdout -v de -s 175 ─► a WAV file on stdout ─► pieces
//
// It needs no network, no key and no model, knows some hundred languages, and takes some tens of
// milliseconds a sentence. It sounds like a robot: it is for development, tests, and as the last
// one of a chain, where a robot is better than silence. It gives no times of words.
//
// flite is left out: it sounds no better, speaks English only, and cannot write to a pipe.
package espeak
