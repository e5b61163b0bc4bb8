// The team's own tools: `go tool -modfile=tools.mod NAME`. Apart from go.mod, so that nothing
// here is ever built into the product.
module parlance.dev/parlance

go 1.26.0

tool (
	connectrpc.com/connect/cmd/protoc-gen-connect-go
	google.golang.org/protobuf/cmd/protoc-gen-go
)

require (
	connectrpc.com/connect v1.21.1 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
