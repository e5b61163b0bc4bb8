// Command hearing prints how well voice/hearing finds speech and turns over the recordings of
// test/voicecorpus:
//
//	go run ./test/eval/hearing            # 300 recordings, with the gate alone and the network
//	go run ./test/eval/hearing -wrong     # also what went wrong, recording by recording
package main

import (
	"flag"
	"fmt"
	"os"

	"parlance.dev/parlance/test/voicecorpus"
)

func main() {
	var p voicecorpus.EvaluateParams
	flag.Uint64Var(&p.Seed, "seed", 1, "seed of the recordings")
	flag.IntVar(&p.Scale, "scale", 1, "make one of so many recordings")
	flag.BoolVar(&p.ListWrong, "wrong", false, "print what went wrong")
	flag.Parse()
	if _, err := voicecorpus.Evaluate(os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, "hearing:", err)
		os.Exit(1)
	}
}
