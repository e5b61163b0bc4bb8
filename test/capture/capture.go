// Package capture keeps what is written while it is read: logs, and what a command prints.
package capture

import (
	"bytes"
	"sync"
)

// Buffer is an [io.Writer] that can be read meanwhile; the zero value is empty and ready.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// Bytes is everything so far.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// String is everything so far.
func (b *Buffer) String() string { return string(b.Bytes()) }
