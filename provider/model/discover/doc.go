// Package discover notices model servers on this machine: Ollama, LM Studio, vLLM, llama.cpp,
// Hugging Face's text-embeddings-inference, and servers of speech: Speaches, LocalAI, whisper.cpp.
//
// It asks the products' usual ports which models they serve, in parallel and for 300 ms at most,
// and tells by what the server says of them, or by their names, which models chat, embed,
// transcribe or speak. It starts nothing, loads no model, and looks at no other machine: models
// that a server on this machine passes on to another one are left out. Something else on such a
// port (8080 is popular) is told apart by its answer.
package discover
