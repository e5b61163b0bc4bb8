// Package voice joins what hears and what speaks to a conversation.
package voice
