package turns

// A call that the client runs ends the answer it was made in:
//
//	ClientToolCalled ──► client ──► ToolOutput, Respond ──► the next answer
//	                       └── nothing within the agent's client_tool_timeout_seconds ──► the model is told
//
// The call stands in its turn's row and its result in a later one, so that any socket of the
// session can bring the result, also after a reconnect to another node. The engine only keeps the
// time, and holds back answers until all calls of the one before have their results.

const (
	// MaxClientOutputBytes bounds what a client may answer to a call.
	MaxClientOutputBytes = 256 << 10
	ClientToolFailed     = "The client's tool failed."
)
