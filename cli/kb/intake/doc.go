// Package intake adds files, folders, web pages and the standard input to a knowledge base. It uses
// only the public API.
//
//	arguments ─Select─► items ─► fetch pages ─► skip existing ─► upload ─► ingestion ─► attach
//
// Pages and the standard input are written to temporary files, so nothing is held in memory as a
// whole. Each upload has an idempotency key: it can be repeated after a lost answer and still makes
// one source.
package intake
