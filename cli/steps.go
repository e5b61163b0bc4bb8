package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// tickEvery is how often a running step shows its seconds on a terminal.
const tickEvery = 200 * time.Millisecond

// steps shows what a command is doing: a line for each step with its time. On a terminal the
// running step counts its seconds.
type steps struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu      sync.Mutex
	name    string // empty: none is running
	begun   time.Time
	stop    chan struct{}
	stopped sync.WaitGroup
}

func newSteps(out io.Writer, now func() time.Time) *steps {
	return &steps{out: out, terminal: isTerminal(out), now: now}
}

// isTerminal says whether a person sees what is written to, or types what is read from, v.
func isTerminal(v any) bool {
	file, ok := v.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// begin starts a step. The one before must have ended.
func (s *steps) begin(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.begun = fmt.Sprintf(format, args...), s.now()
	if !s.terminal {
		return
	}
	s.draw()
	stop := make(chan struct{})
	s.stop = stop
	s.stopped.Go(func() { s.tick(stop) })
}

func (s *steps) tick(stop <-chan struct{}) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		}
	}
}

// draw writes the running step over itself.
func (s *steps) draw() {
	if s.name != "" {
		fmt.Fprintf(s.out, "\r\033[K  … %s %.0f s", s.name, s.now().Sub(s.begun).Seconds())
	}
}

// note writes a line below the running step: what it is busy with.
func (s *steps) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.out, "    "+format+"\n", args...)
	if s.terminal {
		s.draw()
	}
}

// pause takes the running step off the terminal, to ask something; the next note brings it back.
func (s *steps) pause() {
	s.end()
}

// done ends the step; detail replaces its name when it is not empty.
func (s *steps) done(detail string) {
	took := s.now().Sub(s.begun)
	name := s.name
	s.end()
	if detail != "" {
		name = detail
	}
	fmt.Fprintf(s.out, "  ✓ %s (%.1f s)\n", name, took.Seconds())
}

// fail ends the step that went wrong, if one is running.
func (s *steps) fail() {
	name := s.name
	s.end()
	if name != "" {
		fmt.Fprintf(s.out, "  ✗ %s\n", name)
	}
}

// end stops the counting.
func (s *steps) end() {
	s.mu.Lock()
	s.clear()
	s.name = ""
	stop := s.stop
	s.stop = nil
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		s.stopped.Wait()
	}
}

func (s *steps) clear() {
	if s.terminal && s.name != "" {
		fmt.Fprint(s.out, "\r\033[K")
	}
}
