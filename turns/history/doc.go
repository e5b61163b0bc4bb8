// Package history chooses what the model sees of the earlier turns of a conversation: the newest
// that fit a budget of tokens, large ones shortened, and which of the oldest go into the summary.
//
// It has no state, no database and no clock.
package history
