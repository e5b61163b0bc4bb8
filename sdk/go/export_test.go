package parlance

import "time"

// WithSilence has a client take a stream or socket for lost that brings nothing for a while.
func (c *Client) WithSilence(limit time.Duration) *Client {
	c.silence = limit
	return c
}

// WithWaits sets how long a conversation waits for an answer that may have been asked for, and for
// one that was cut off.
func (c *Client) WithWaits(settle, resume time.Duration) *Client {
	c.settleTime, c.resumeTime = settle, resume
	return c
}
