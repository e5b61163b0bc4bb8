// Package audio converts sound between the bytes of a wire or a file and samples to work on.
//
//	bytes in chunks ──► Decoder ──► Resampler ──► []int16 at the rate that is wanted
//	bytes ◄── Format.AppendEncode ◄── Resampler ◄── []int16
//
//	a WAV file ──► WAVReader (a stream) or ReadWAV (the whole file)
//	a WAV file ◄── AppendWAVHeader, then encoded samples; or AppendWAV
//
// Samples are int16. They are mono, unless a function says that they are interleaved: left, right,
// left, right. A Format is an encoding and a rate, and has the names that protocols give it. Level
// measures how loud samples are.
//
// AppendKeyTones makes the sound of a telephone's keys.
//
// A Decoder and a Resampler belong to one stream, and keep what the next chunk needs: clients cut
// anywhere, and the result does not depend on where. Neither may be used by two goroutines at once.
//
// Functions whose names begin with Append extend the slice that they are given, as append does, and
// allocate only when its capacity is too small.
//
// µ-law and A-law are as in ITU-T G.711, and samples on the border of two steps as in the ITU's own
// software (G.191). The comment of Resampler says what its filter keeps and removes.
//
// The package does not read the clock, and knows neither sockets nor what is said.
package audio
