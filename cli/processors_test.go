package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestProcessorsWanted(t *testing.T) {
	t.Parallel()
	looks := func(used float64, times int) []look { return slices.Repeat([]look{{used: used}}, times) }
	for name, row := range map[string]struct {
		now   int
		looks []look
		want  int
	}{
		"calm gives one back":                          {2, looks(0.3, calmLooks), 1},
		"not before it has been calm for long":         {2, looks(0.3, calmLooks-1), 2},
		"more than one less could do":                  {2, looks(0.6, 10*calmLooks), 2},
		"of many one at a time":                        {8, looks(0.3, 2*calmLooks-1), 7},
		"the last one is kept":                         {1, looks(0, 10*calmLooks), 1},
		"a rush gets all at once":                      {1, append(looks(0.2, 1), looks(0.9, 1)...), 8},
		"of three too":                                 {3, looks(2.5, 1), 8},
		"work that one can do is no rush":              {1, looks(0.7, 10*calmLooks), 1},
		"what waits for a processor is a rush too":     {1, []look{{used: 0.2, late: true}}, 8},
		"and nothing is given back meanwhile":          {8, slices.Repeat([]look{{used: 0.2, late: true}}, 10*calmLooks), 8},
		"a rush begins the wait for calm once more":    {8, slices.Concat(looks(0.3, calmLooks-1), looks(7.9, 1), looks(0.3, calmLooks-1)), 8},
		"it is the average that counts, not each look": {2, slices.Concat(looks(0.3, calmLooks-1), looks(1, 1)), 1},
	} {
		p := processors{most: 8}
		now := row.now
		for _, seen := range row.looks {
			seen.processors = now
			now = p.wanted(seen)
		}
		if now != row.want {
			t.Errorf("%s: %d processors, want %d", name, now, row.want)
		}
	}
}

func TestChosenProcessorsStay(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	before := runtime.GOMAXPROCS(0)
	tuneProcessors(t.Context()) // returns, instead of looking until the test ends
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("%d processors, want %d as before", got, before)
	}
}

// A process of its own, which nobody else keeps busy, gives processors back while it has nothing to do, has all of them
// when it has, and when it ends.
func TestProcessorsFollowWork(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "GOMAXPROCS=") })
	child.Env = append(child.Env, processorsVariable+"=1")
	if said, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// processorsVariable makes the test binary be what TestProcessorsFollowWork looks at.
const processorsVariable = "PARLANCE_TEST_PROCESSORS"

func followWork() (code int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var tuning sync.WaitGroup
	most := runtime.GOMAXPROCS(0)
	tuning.Go(func() { tuneProcessors(ctx) })
	if !becomes(1) {
		return 1
	}
	working, rest := context.WithCancel(ctx)
	for range most {
		go func() {
			for working.Err() == nil { //nolint:revive // work
			}
		}()
	}
	busy := becomes(most)
	rest()
	if !busy || !becomes(1) {
		return 1
	}
	cancel()
	tuning.Wait()
	if !becomes(most) {
		return 1
	}
	return 0
}

// becomes waits until Go works on so many processors.
func becomes(want int) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if runtime.GOMAXPROCS(0) == want {
			return true
		}
	}
	fmt.Println("there are", runtime.GOMAXPROCS(0), "processors, not", want)
	return false
}
