// Generate writes the parts of the SDKs that are made, and run by proto/generate.sh: the reasons of
// refused calls, in TypeScript, Go and Python, from the error table; and for Go what the pages of
// lists hold, from the contract.
//
//	go run ./sdk/generate
package main
