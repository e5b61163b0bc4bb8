// Package modeltest holds what the tests of model adapters share: the script that the fake servers
// of test/fake follow ([Reply], [Script], [Gullible]), the conformance suite ([Run]) that every
// adapter passes against the fake of its vendor, and a look at what goes over the wire itself
// ([Asked]).
//
// A Reply is neutral; each fake writes it on its vendor's real wire and reads requests back
// into a neutral [Received], so the suite sees what a vendor would have understood.
package modeltest
