// Package openai transcribes and speaks by OpenAI's audio API, which many servers have: OpenAI,
// Speaches, LocalAI, Kokoro-FastAPI, vLLM, Groq, and whisper.cpp's server when it is started with
// --inference-path /v1/audio/transcriptions.
//
//	POST /v1/audio/transcriptions  multipart: a WAV file, model, language, prompt, response_format
//	POST /v1/audio/speech          JSON: model, input, voice, speed, instructions, format pcm
//
// Transcriptions are asked for as verbose_json, with the times of words and the probability that
// nobody spoke. A server that refuses that with 400 or 422 is asked for plain json from then on, as
// are OpenAI's gpt- models, which have no verbose_json. Hints are sent as the prompt.
//
// Speech is read as it is streamed. It is bare samples at 24 kHz, or at a rate that the
// Content-Type names; a WAV file, which some servers send whatever is asked for, is read too.
//
// Source: OpenAI's API reference, Audio; whisper.cpp's examples/server. Tested against a fake of
// that documentation, not against the servers.
package openai
