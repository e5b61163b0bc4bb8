// Python is a plugin of buf and protoc that writes the services of the Python SDK: for each
// service of the contract a class that blocks and one for asyncio, with a method for each RPC whose
// keyword arguments are the fields of its request. It also writes a module that has all messages.
// protoc writes the messages themselves. Run by proto/generate.sh.
//
// Client streams are left out: the SDK has its own methods for uploads.
package main
