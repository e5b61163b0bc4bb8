// Package recogniser is a small speech recogniser on OpenAI's wire, for tests and demonstrations.
// It hears real sound, where the fakes follow scripts. It recognises by CMU Pocketsphinx, which it
// installs on Debian and Ubuntu, one process a request, and needs no network. English only.
//
//	heard := recogniser.Start(t, "When are you open on Sunday?", "Stop.")
//	heard.URL // for PARLANCE_STT_BASE_URL
//
// POST {URL}/audio/transcriptions takes a form with file (WAV at a rate of platform/audio, or bare
// 16-bit samples at 16 kHz in a file named .raw or .pcm), model, language, prompt, response_format
// (json, verbose_json or text) and timestamp_granularities[], as OpenAI's API reference documents
// it, and refuses what OpenAI refuses, in the same form. Prompts change nothing.
//
// A recogniser with sentences knows nothing else: it hears one of them or some consecutive words of
// one, as it is written. What flite and espeak-ng say comes back without errors, in noise too.
// Speech that is none of the sentences becomes the nearest words of one. An utterance of 3 s takes
// 0.1 s. Without sentences it has a general model, which makes an error in 6 to 14 words of a
// hundred of flite's, more in espeak-ng's, and writes without capitals and punctuation.
//
// In silence and noise nobody speaks, which package voice/hearing/vad decides: the text is empty.
package recogniser
