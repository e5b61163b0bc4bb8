//go:build !onnxruntime || !cgo

package endmodel

// Built says whether this program can run the network.
const Built = false

func openNetwork(Params) (network, error) { return nil, ErrNotBuilt }
