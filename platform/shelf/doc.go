// Package shelf keeps what was read and will be asked for again, up to a number of bytes: what was used last
// stays. Whether what lies there is still so is its owner's question.
package shelf
