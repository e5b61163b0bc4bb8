// Package voicecorpus makes recordings of conversations whose truth is known: who speaks when, what
// they say, where they pause. Voices are those of flite and espeak-ng, at two speeds; noise, music,
// coughs, babble and the echo of the agent are computed. The same seed gives the same recordings.
//
// Run plays a recording to a hearing.Taker as a session would, with a scripted transcriber and a
// scripted agent, in audio time. Score compares the events with the truth.
//
// What the recordings are not: the voices are synthetic, read, and do not talk over each other as
// people do; words are spread over an utterance by their letters; a scripted transcriber mishears
// nothing. It puts the mark of a sentence's end where a speaker only paused in one pause of ten,
// and forgets it at one end of ten.
package voicecorpus
