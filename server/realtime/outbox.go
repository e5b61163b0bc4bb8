package realtime

import "parlance.dev/parlance/server/realtime/dialect"

// batchBytes is about how much is handed to the connection at once.
const batchBytes = 64 << 10

// outbox is the frames that a socket's client was not sent yet, in order. Its owner locks it.
type outbox struct {
	ready []dialect.Frame
	// held go out behind ready once they are released. holding is set when frames are held.
	held    []dialect.Frame
	holding bool
	// bytes is the size of the frames in both.
	bytes int
}

// add queues frames behind the others.
func (o *outbox) add(frames []dialect.Frame) {
	for _, frame := range frames {
		o.bytes += len(frame.Data)
	}
	if o.holding {
		o.held = append(o.held, frames...)
	} else {
		o.ready = append(o.ready, frames...)
	}
}

// hold keeps back what is added from now on.
func (o *outbox) hold() { o.holding = true }

// release lets what was held go out.
func (o *outbox) release() {
	o.ready = append(o.ready, o.held...)
	o.held, o.holding = nil, false
}

// batch is what is to be written now, of about batchBytes at most. The frames stay in the outbox
// until they are removed.
func (o *outbox) batch() [][]byte {
	var batch [][]byte
	bytes := 0
	for _, frame := range o.ready {
		if bytes += len(frame.Data); len(batch) > 0 && bytes > batchBytes {
			break
		}
		batch = append(batch, frame.Data)
	}
	return batch
}

// remove takes out the first frames, which are those of a batch that was written.
func (o *outbox) remove(count int) {
	for _, frame := range o.ready[:count] {
		o.bytes -= len(frame.Data)
	}
	if o.ready = o.ready[count:]; len(o.ready) == 0 {
		o.ready = nil
	}
}
