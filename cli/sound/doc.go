// Package sound connects a conversation in the terminal with ears and mouth: microphones and
// loudspeakers by programs that the machine has (ALSA's, sox, PulseAudio's, ffmpeg's), or files.
//
//	Source ── Read ──► samples to send        microphone, WAV file, bare samples
//	Player ── Advance ──► Sink                loudspeaker, WAV file, nothing
//
// All samples are mono at RateHz. The package does not read the clock: a caller says how many
// samples real time has advanced by, and gets or plays as many. A Player counts what was played, so
// that a conversation knows what was heard when it is interrupted.
package sound
