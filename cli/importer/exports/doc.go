// Package exports reads agents that other services have exported, and plans what to make of them
// in Parlance. It makes nothing and asks nobody.
//
// Every member of an export ends in one row of the plan: it became a field of ours, it has no
// counterpart (with a sentence that says why), or it says nothing because it is empty. A member
// that nobody here knows is a row too.
package exports
