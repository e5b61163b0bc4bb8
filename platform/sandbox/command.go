package sandbox

import (
	"cmp"
	"io"
	"os/exec"
	"strconv"
	"time"
)

// Command is one run of a program. Zero limits take the defaults, which suit one page.
type Command struct {
	// Program is a name on PATH or a path. Files of the box are named without a directory.
	Program string
	Args    []string
	// Env are variables as NAME=value, beside PATH, HOME, TMPDIR and LC_ALL=C.UTF-8.
	Env []string
	// Stdin may be nil. Stdout gets what the program writes, as it comes; nil drops it. A writer's
	// error ends the program and is Run's error.
	Stdin  io.Reader
	Stdout io.Writer

	// WallTime is how long the program may take in all; default 60 s.
	WallTime time.Duration
	// CPUSeconds is how long each of its processes may compute; default 30.
	CPUSeconds int
	// MemoryBytes is the address space of each of its processes; default 1 GiB.
	MemoryBytes int64
	// FileBytes is how long a file may be that it writes; default 256 MiB.
	FileBytes int64
	// OutputBytes is how much may come to Stdout; default 64 MiB.
	OutputBytes int64
	// Processes and threads at once, a shell among them; default 16. It binds where the box has a
	// user or user namespace of its own.
	Processes int
	// OpenFiles at once in a process; default 64.
	OpenFiles int
}

func (c Command) normal() Command {
	c.WallTime = cmp.Or(c.WallTime, time.Minute)
	c.CPUSeconds = cmp.Or(c.CPUSeconds, 30)
	c.MemoryBytes = cmp.Or(c.MemoryBytes, 1<<30)
	c.FileBytes = cmp.Or(c.FileBytes, 256<<20)
	c.OutputBytes = cmp.Or(c.OutputBytes, 64<<20)
	c.Processes = cmp.Or(c.Processes, 16)
	c.OpenFiles = cmp.Or(c.OpenFiles, 64)
	return c
}

// starter sets the limits inside of all layers, says by one byte on descriptor 3 that it got there,
// and gives its place to the program. dash calls the limit of processes -p, bash -u. Of a limit
// with two ends the soft one sends SIGXCPU, which says more than SIGKILL.
const starter = `soft=$1 hard=$2 memory=$3 file=$4 files=$5 processes=$6; shift 6
ulimit -c 0 && ulimit -t "$hard" && ulimit -S -t "$soft" && ulimit -f "$file" && ulimit -n "$files" || exit 125
[ "$memory" = 0 ] || ulimit -v "$memory" || exit 125
[ "$processes" = 0 ] || ulimit -u "$processes" 2>/dev/null || ulimit -p "$processes" || exit 125
printf . >&3 || exit 125
`

const (
	// replaceSelf makes the program take the shell's place.
	replaceSelf = `exec "$@" 3>&-`
	// stayFirst keeps the shell as the first process of a namespace: signals that would end any
	// other process do not reach that one.
	stayFirst = `"$@" 3>&-; exit $?`
)

const shell = "/bin/sh"

// arguments are the words that run the program under its limits.
func (l layer) arguments(c Command, program string) []string {
	end := replaceSelf
	if l.firstProcess {
		end = stayFirst
	}
	processes := 0
	if l.countsProcesses {
		processes = c.Processes
	}
	memory := c.MemoryBytes
	if !canLimitMemory {
		memory = 0
	}
	words := []string{shell, "-c", starter + end, "sandbox"}
	for _, limit := range []int64{
		int64(c.CPUSeconds), int64(c.CPUSeconds) + 1, memory >> 10, (c.FileBytes + 511) >> 9, int64(c.OpenFiles), int64(processes),
	} {
		words = append(words, strconv.FormatInt(limit, 10))
	}
	return append(append(words, program), c.Args...)
}

// environment is the whole environment of the program. home is the path of the box inside.
func (c Command) environment(home string) []string {
	return append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin", "LC_ALL=C.UTF-8", "HOME=" + home, "TMPDIR=" + home,
	}, c.Env...)
}

func lookPath(name string) (string, error) { return exec.LookPath(name) }
