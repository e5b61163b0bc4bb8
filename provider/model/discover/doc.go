// Package discover notices model servers on this machine: Ollama, LM Studio, vLLM, llama.cpp.
//
// It asks the products' usual ports which models they serve, in parallel and for 300 ms at
// most, and picks one that is for chat. It starts nothing, loads no model, and looks at no
// other machine. Something else on such a port (8080 is popular) is told apart by its answer.
package discover
