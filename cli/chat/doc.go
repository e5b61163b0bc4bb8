// Package chat is `parlance chat`: a conversation with an agent in the terminal, over its chat
// socket.
package chat
