// Generate writes the part of the SDKs that follows from the error table: the reasons of refused
// calls, in TypeScript, Go and Python. Run by proto/generate.sh.
//
//	go run ./sdk/generate
package main
