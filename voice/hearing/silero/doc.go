// Package silero runs the voice activity network Silero VAD v5 at 16 kHz in plain Go.
//
//	512 samples, with the 64 before them
//	→ four Fourier transforms of 256 samples, magnitudes of 129 frequencies
//	→ four convolutions over time (128, 64, 64, 128 channels)
//	→ LSTM of 128
//	→ one probability
//
// Each step of 32 ms gives the probability that the frame is speech. A stream is a Network of about
// 9 kB; the weights, 974 kB, are embedded and shared. Where they come from is in SOURCE.md. The
// tests compare with the outputs of onnxruntime.
//
// The package does not decide where speech begins or ends: voice/hearing/vad does.
package silero
