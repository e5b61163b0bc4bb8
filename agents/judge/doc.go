// Package judge has a language model decide whether a text is in a no-go zone, by what the zone's
// operator has written in words.
//
// A [Judge] is asked about numbered sentences by numbered rules, all rules in one call. The
// sentences stand in a fence (package guards), so they cannot pose as the question, and the answer
// is one JSON object that is read strictly. A call ends after 5 s.
//
// A [Screen] looks at texts during one turn: by the phrases, patterns and examples of package nogo,
// and by the judge. Its [Filter] does so for a text that comes piece by piece:
//
//	piece ──► nogo.Filter ──► sentences that have ended ──► judge ──► Say
//	                                     ▲                    │
//	                                     └── one call at a time
//
// The first sentence is asked about at once, the next ones together when the call before has ended.
//
// The package has no database and no tables.
package judge
