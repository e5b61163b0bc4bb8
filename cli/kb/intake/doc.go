// Package intake brings files, folders, web pages and the standard input into a knowledge base,
// over the public API only.
//
//	arguments ─Select─► items ─► fetch (pages) ─► there already? ─► upload ─► ingestion ─► attach
//
// Nothing is held in memory as a whole: a page and the standard input go through a temporary
// file. An upload carries an idempotency key, so that one whose answer was lost is repeated
// without making a second source.
package intake
