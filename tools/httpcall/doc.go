// Package httpcall makes one call of an http tool: it renders the request from a checked call,
// sends it, repeats it where that is safe, and says why it failed.
//
//	Render ─► Send ─► attempt, up to three times ─► Answer ─► Answer.Failure
//
// It knows neither tools nor sessions. Package tools decides whether a call is made.
package httpcall
