package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// tickEvery is how often a running step shows its seconds on a terminal.
const tickEvery = 200 * time.Millisecond

// Steps shows what a command is doing: a line for each step with its time. On a terminal the
// running step counts its seconds.
type Steps struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu      sync.Mutex
	name    string // empty when no step is running
	begun   time.Time
	stop    chan struct{}
	stopped sync.WaitGroup
}

// NewSteps returns steps that are written to out.
func NewSteps(out io.Writer, now func() time.Time) *Steps {
	return &Steps{out: out, terminal: IsTerminal(out), now: now}
}

// Begin starts a step. The step before it must have ended.
func (s *Steps) Begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.begun = name, s.now()
	if !s.terminal {
		return
	}
	s.draw()
	stop := make(chan struct{})
	s.stop = stop
	s.stopped.Go(func() { s.tick(stop) })
}

func (s *Steps) tick(stop <-chan struct{}) {
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
func (s *Steps) draw() {
	if s.name != "" {
		fmt.Fprintf(s.out, "\r\033[K  … %s %.0f s", s.name, s.now().Sub(s.begun).Seconds())
	}
}

// Note writes an indented line below the running step.
func (s *Steps) Note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.out, "    "+format+"\n", args...)
	if s.terminal {
		s.draw()
	}
}

// Done ends the step. It is shown with its name, or with detail when that is not empty.
func (s *Steps) Done(detail string) {
	took := s.now().Sub(s.begun)
	name := s.name
	s.End()
	if detail != "" {
		name = detail
	}
	fmt.Fprintf(s.out, "  ✓ %s (%.1f s)\n", name, took.Seconds())
}

// Fail ends the running step as failed. It does nothing when no step is running.
func (s *Steps) Fail() {
	name := s.name
	s.End()
	if name != "" {
		fmt.Fprintf(s.out, "  ✗ %s\n", name)
	}
}

// End stops the step that is running, if one is, and removes it from the terminal.
func (s *Steps) End() {
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

func (s *Steps) clear() {
	if s.terminal && s.name != "" {
		fmt.Fprint(s.out, "\r\033[K")
	}
}
