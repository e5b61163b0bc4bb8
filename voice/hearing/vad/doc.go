// Package vad detects voice activity in frames of 32 ms of 16 kHz mono audio.
//
// There are two detectors with the same method:
//
//   - Gate compares a frame's level with the level of the background, which it learns. It costs a
//     microsecond a frame, and takes every loud sound for speech.
//   - Detector is a Gate which asks the network of package silero wherever the gate is not sure
//     that the frame is background. It tells speech from music, coughs and noise.
//
// Both count in frames and never look at a clock: the same audio gives the same answers, however
// fast it comes. What is made of the frames, beginnings and ends of turns, is in voice/hearing.
package vad
