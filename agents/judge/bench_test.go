package judge_test

import (
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/provider/model/modeltest"
)

// answer has 511 characters in nine sentences.
const answer = "The parcel left our warehouse on Monday and went to the airport. It was weighed there, and the papers were checked. " +
	"Customs had no question about it. On Tuesday it was loaded on the evening flight. The flight was late by an hour, as " +
	"there was fog. On Wednesday it came to the depot in your town. The driver rang at noon and nobody opened the door. " +
	"He left a card with the number of the parcel and the address of the shop where it waits. It stays there for ten days, " +
	"so there is no hurry; take the card with you."

// BenchmarkHeldBack is an answer of 511 characters of a model that writes four characters each
// 10 ms, with a judge that needs 300 ms on a local server. It reports how many characters wait for
// the judge on average, how long the first and the last of them wait, and the calls.
//
//	go test ./agents/judge -bench HeldBack -benchtime 3x
func BenchmarkHeldBack(b *testing.B) {
	for name, latency := range map[string]time.Duration{"judge=0ms": 0, "judge=300ms": 300 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			j, server := newJudge(b)
			server.Else = func(r modeltest.Received) modeltest.Reply {
				reply := clear(r)
				gate := make(chan struct{})
				time.AfterFunc(latency, func() { close(gate) })
				reply.Gate = gate
				return reply
			}
			var held, first, last, samples float64
			for b.Loop() {
				one := holdBack(b, j)
				held, first, last, samples = held+one.held, first+one.first, last+one.last, samples+1
			}
			b.ReportMetric(held/samples, "held-chars")
			b.ReportMetric(first/samples, "first-ms")
			b.ReportMetric(last/samples, "last-ms")
			b.ReportMetric(float64(len(server.Requests()))/samples, "calls")
		})
	}
}

type heldBack struct{ held, first, last float64 }

// holdBack passes the answer through a filter at the model's pace.
func holdBack(b *testing.B, j *judge.Judge) (h heldBack) {
	var mu sync.Mutex
	passed, sum := 0, 0
	begun := time.Now()
	filter := judge.NewScreen(zones(b), j).NewFilter(judge.FilterParams{Stop: func() {}, Say: func(text string) error {
		mu.Lock()
		defer mu.Unlock()
		if passed == 0 && text != "" {
			h.first = float64(time.Since(begun).Microseconds()) / 1000
		}
		passed += utf8.RuneCountInString(text)
		return nil
	}})
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	pieces := 0
	for at := 0; at < len(answer); at += 4 {
		<-pace.C
		if err := filter.Write(b.Context(), answer[at:min(at+4, len(answer))]); err != nil {
			b.Fatal(err)
		}
		mu.Lock()
		sum += min(at+4, len(answer)) - passed
		mu.Unlock()
		pieces++
	}
	ended := time.Now()
	if _, err := filter.Finish(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	h.last, h.held = float64(time.Since(ended).Microseconds())/1000, float64(sum)/float64(pieces)
	return h
}
