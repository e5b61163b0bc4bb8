// Command gendeps prints the third-party protos that ours import (google/api, buf/validate) from
// the descriptors compiled into the Go modules pinned in go.mod. So there are no copies of them in
// the repository, and what buf compiles against is what the running program was built with.
//
// Usage: go run ./proto/gendeps DIR
package main
