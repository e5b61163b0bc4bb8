package pgtest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakPatience is how long goroutines have to end after the last test. What the drivers let end by
// themselves takes its time on a busy machine, longer than the half second that goleak has for it.
const leakPatience = 30 * time.Second

// SetParallel lets n tests of a package run at once, unless the command line says how many. Go runs
// as many as there are processors; tests that wait for servers and timers leave those idle. It is
// called before m.Run.
func SetParallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // every test binary has it
	}
}

// Main runs a package's tests, eight at once, and fails it for goroutines that go on after them; it
// does not return. Those ignored may go on, as may the one that waits for the shared stack's
// process: it lives as long as the test binary that happened to start the stack.
func Main(m *testing.M, ignored ...goleak.Option) {
	SetParallel(8)
	code := m.Run()
	if code == 0 {
		ignored = append(ignored, goleak.IgnoreAnyFunction("parlance.dev/parlance/test/pgtest/keeper.spawn.func2"))
		if err := leaks(ignored); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaks looks, each time for half a second, until nothing is left.
func leaks(ignored []goleak.Option) error {
	began := time.Now()
	for {
		err := goleak.Find(ignored...)
		if err == nil || time.Since(began) > leakPatience {
			return err
		}
	}
}
