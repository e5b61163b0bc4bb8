package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"syscall"
)

// ErrTooLarge is Put's error for a file that is longer than was allowed.
var ErrTooLarge = errors.New("larger than allowed")

// Kind says how a run ended that did not end well.
type Kind string

// The ends of a run. See Ours for which of them say nothing about the document.
const (
	// NotStarted: the program is not installed, or the machine could not start it.
	NotStarted Kind = "not-started"
	// Killed by somebody else: the kernel when the machine is out of memory, an operator.
	Killed Kind = "killed"
	// Exited by itself with another status than 0; Error.Status has it.
	Exited Kind = "exited"
	// Crashed by a signal of its own making; Error.Signal has it.
	Crashed Kind = "crashed"
	// TimeLimit, CPULimit, MemoryLimit and OutputLimit: ended because of Command's limits.
	// MemoryLimit is recognised by the messages of programs that cannot allocate memory.
	TimeLimit   Kind = "time-limit"
	CPULimit    Kind = "cpu-limit"
	MemoryLimit Kind = "memory-limit"
	OutputLimit Kind = "output-limit"
)

// Ours reports whether the machine is at fault and not the bytes: trying again may help.
func (k Kind) Ours() bool { return k == NotStarted || k == Killed }

// Error is the bad end of a run.
type Error struct {
	Kind    Kind
	Program string
	// Status is the exit status of Exited.
	Status int
	// Signal is that of Crashed.
	Signal syscall.Signal
	// Stderr is the last 4 KiB of the program's standard error. A document may have chosen its text.
	Stderr string

	err error
}

// Error is for logs.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Program, e.Kind)
	switch {
	case e.Kind == Exited:
		text = fmt.Sprintf("%s: exit status %d", e.Program, e.Status)
	case e.Kind == Crashed:
		text = fmt.Sprintf("%s: %s", e.Program, e.Signal)
	case e.err != nil:
		text = fmt.Sprintf("%s: %v", text, e.err)
	}
	if e.Stderr != "" {
		text = fmt.Sprintf("%s: %q", text, e.Stderr)
	}
	return text
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.err }

// KindOf is the kind of an Error, or "" for any other error.
func KindOf(err error) Kind {
	if end, ok := errors.AsType[*Error](err); ok {
		return end.Kind
	}
	return ""
}

// outOfMemory is what C and C++ programs say when malloc gives no more.
var outOfMemory = regexp.MustCompile(`(?i)out of memory|bad_alloc|cannot allocate memory|memory exhausted|[mc]alloc fail`)

const (
	// shells and bubblewrap end with this and the signal's number when what they ran was killed.
	signalBase = 128
	// highestSignal is Linux's.
	highestSignal = 64
	// A shell's statuses for a program that cannot be executed, and for one that is not there.
	cannotExecute, notFound = 126, 127
)

// classify says how a program ended that was started and that we did not end. cpuSpent says that
// it used up its CPU time.
func classify(e *Error, status syscall.WaitStatus, cpuSpent bool) *Error {
	code, signal := status.ExitStatus(), syscall.Signal(0)
	switch {
	case status.Signaled():
		signal = status.Signal()
	case code == cannotExecute || code == notFound:
		e.Kind = NotStarted
		return e
	case code > signalBase && code <= signalBase+highestSignal:
		signal = syscall.Signal(code - signalBase)
	}
	switch {
	case signal == syscall.SIGXCPU, signal == syscall.SIGKILL && cpuSpent:
		e.Kind = CPULimit
	case signal == syscall.SIGXFSZ:
		e.Kind = OutputLimit
	case signal == syscall.SIGKILL, signal == syscall.SIGTERM:
		e.Kind = Killed
	case outOfMemory.MatchString(e.Stderr):
		e.Kind = MemoryLimit
	case signal != 0:
		e.Kind, e.Signal = Crashed, signal
	default:
		e.Kind, e.Status = Exited, code
	}
	return e
}
