package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/test/bench/rig"
)

// callers is how many requests are under way at once in a load.
const callers = 4

// rounds is how often each figure is taken.
const rounds = 5

// call is one request, sent again and again.
type call struct {
	method, url string
	header      http.Header
	body        []byte
	status      int
}

// load sends the call from all callers for a while and returns how many were answered.
func load(ctx context.Context, client *http.Client, c call, d time.Duration) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		answered atomic.Int64
		sending  sync.WaitGroup
		once     sync.Once
		failure  error
		until    = time.Now().Add(d)
	)
	for range callers {
		sending.Go(func() {
			for time.Now().Before(until) {
				if err := c.send(ctx, client); err != nil {
					once.Do(func() { failure = err; cancel() })
					return
				}
				answered.Add(1)
			}
		})
	}
	sending.Wait()
	return answered.Load(), failure
}

// send sends the call once and reads the answer to its end.
func (c call) send(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header = c.header
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	if response.StatusCode != c.status {
		return fmt.Errorf("%s %s answered %d %s", c.method, c.url, response.StatusCode, answer)
	}
	return nil
}

// spent is what a load cost the process.
type spent struct {
	// perSecond is how many calls were answered in a second.
	perSecond float64
	// cpu is the process's time for one call.
	cpu time.Duration
}

// underLoad loads the process for one round.
func underLoad(ctx context.Context, p *rig.Process, client *http.Client, c call, d time.Duration) (spent, error) {
	before, err := ownCPU(p)
	if err != nil {
		return spent{}, err
	}
	began := time.Now()
	n, err := load(ctx, client, c, d)
	if err != nil {
		return spent{}, err
	}
	elapsed := time.Since(began)
	after, err := ownCPU(p)
	if err != nil {
		return spent{}, err
	}
	return spent{perSecond: float64(n) / elapsed.Seconds(), cpu: (after - before) / time.Duration(max(n, 1))}, nil
}

// ownCPU is the time a process has spent so far, without its children's.
func ownCPU(p *rig.Process) (time.Duration, error) {
	spent, err := p.CPU()
	return spent.Own, err
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
