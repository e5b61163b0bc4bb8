// Package audit looks at an installation that has come to rest and says whether it kept its word.
//
// It holds three records against each other: the rows of Postgres and the files of the bucket,
// the [Journal] of what customers were answered, and what endpoints received. What it knows of
// the product is the contract and the tables, none of its code, so that a fault of the code
// is not repeated here.
//
//	rows.go     what must hold within the database, one statement each
//	answers.go  every answered write exists as it was answered; nothing is there twice
//	received.go what endpoints got is what is recorded, and was not sent again after a success
//	files.go    the bucket holds what rows name, and nothing else that nobody watches
//
// Each invariant has a name; a [Report] counts what was looked at and lists what was found.
// The tests of this package plant a violation of each and see it named.
package audit
