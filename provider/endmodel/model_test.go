package endmodel

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// fakeNetwork judges by a function.
type fakeNetwork struct {
	judgeFunc func(features []float32) (float32, error)
	closed    int
}

func (n *fakeNetwork) newJudge() (judge, error) {
	return &fakeJudge{network: n, features: make([]float32, featureCount)}, nil
}

func (n *fakeNetwork) close() error {
	n.closed++
	return nil
}

type fakeJudge struct {
	network  *fakeNetwork
	features []float32
	closed   bool
}

func (j *fakeJudge) input() []float32              { return j.features }
func (j *fakeJudge) probability() (float32, error) { return j.network.judgeFunc(j.features) }

func (j *fakeJudge) close() error {
	j.closed = true
	return nil
}

// stopped is a clock by which no question waits for too long.
func stopped() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// loudness is a network's judgement that tells utterances apart.
func loudness(features []float32) (float32, error) {
	sum := 0.0
	for _, x := range features {
		sum += float64(x)
	}
	return float32(1 / (1 + math.Exp(-sum/featureCount))), nil
}

func startFake(t *testing.T, workers int, metrics *Metrics, judge func(features []float32) (float32, error)) (*Model, *fakeNetwork) {
	t.Helper()
	network := &fakeNetwork{judgeFunc: judge}
	m, err := start(Params{Metrics: metrics, Now: stopped}, network, workers)
	if err != nil {
		t.Fatal(err)
	}
	return m, network
}

// TestAsk: each utterance gets the judgement about its own spectrogram.
func TestAsk(t *testing.T) {
	t.Parallel()
	m, network := startFake(t, 2, nil, loudness)
	var answers []<-chan float32
	utterances := [][]int16{nil, reference(), tone(sampleRate, 440, 0.5), tone(12*sampleRate, 1000, 0.1)}
	for _, audio := range utterances {
		answers = append(answers, m.Ask(audio, "words"))
	}
	for i, audio := range utterances {
		want, _ := loudness(featuresOf(audio))
		if got := <-answers[i]; got != want {
			t.Errorf("utterance %d: got %g, want %g", i, got, want)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for _, j := range m.judges {
		if !j.(*fakeJudge).closed {
			t.Error("a judge is not closed")
		}
	}
	if network.closed != 1 {
		t.Errorf("the network was closed %d times", network.closed)
	}
}

// TestFullQueue: a question that finds the queue full has no answer, and those before it have.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	metrics := NewMetrics(prometheus.NewRegistry())
	entered, release := make(chan struct{}, 100), make(chan struct{})
	tried := false
	m, _ := startFake(t, 1, metrics, func([]float32) (float32, error) {
		if !tried { // at start, by the same goroutine that starts the worker
			tried = true
			return 0.5, nil
		}
		entered <- struct{}{}
		<-release
		return 0.5, nil
	})
	answers := []<-chan float32{m.Ask(nil, "")}
	<-entered
	for range queuedPerWorker {
		answers = append(answers, m.Ask(nil, ""))
	}
	if m.Ask(nil, "") != nil {
		t.Error("there is an answer to come although the queue is full")
	}
	close(release)
	for i, answer := range answers {
		if got := <-answer; got != 0.5 {
			t.Errorf("answer %d is %g", i, got)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if got := testutil.ToFloat64(metrics.drops); got != 1 {
		t.Errorf("%g questions are counted as dropped", got)
	}
	if got := testutil.CollectAndCount(metrics.seconds); got != 1 {
		t.Errorf("%d results are counted", got)
	}
}

// TestLateQuestion: what has waited for too long is not judged.
func TestLateQuestion(t *testing.T) {
	t.Parallel()
	metrics := NewMetrics(prometheus.NewRegistry())
	calls := 0
	entered, release := make(chan struct{}), make(chan struct{})
	var passed atomic.Int64
	now := func() time.Time { return stopped().Add(time.Duration(passed.Load())) }
	m, err := start(Params{Metrics: metrics, Now: now}, &fakeNetwork{judgeFunc: func([]float32) (float32, error) {
		if calls++; calls == 2 {
			entered <- struct{}{}
			<-release
		}
		return 0.5, nil
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := m.Ask(nil, "")
	<-entered
	late := m.Ask(nil, "")
	passed.Store(int64(time.Hour))
	inTime := m.Ask(nil, "")
	close(release)
	if <-first != 0.5 || <-inTime != 0.5 {
		t.Error("a question that did not wait has another answer")
	}
	select {
	case got := <-late:
		t.Errorf("the question that waited for an hour has the answer %g", got)
	default:
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if got := testutil.ToFloat64(metrics.drops); got != 1 {
		t.Errorf("%g questions are counted as dropped", got)
	}
}

// TestFailedJudgement: there is no answer, and the next question has one.
func TestFailedJudgement(t *testing.T) {
	t.Parallel()
	calls := 0
	m, _ := startFake(t, 1, nil, func([]float32) (float32, error) {
		if calls++; calls == 2 {
			return 0, errors.New("out of memory")
		}
		return 0.25, nil
	})
	failed, next := m.Ask(nil, ""), m.Ask(nil, "")
	if got := <-next; got != 0.25 {
		t.Errorf("the second answer is %g", got)
	}
	select {
	case got := <-failed:
		t.Errorf("the judgement that failed has the answer %g", got)
	default:
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	select {
	case got := <-m.Ask(nil, ""):
		t.Errorf("a closed model answers %g", got)
	default:
	}
}

// TestUnusableNetwork: what gives no probability for silence is refused at start, and closed.
func TestUnusableNetwork(t *testing.T) {
	t.Parallel()
	for says, judge := range map[string]func([]float32) (float32, error){
		"judges silence as 1.5": func([]float32) (float32, error) { return 1.5, nil },
		"judges silence as NaN": func([]float32) (float32, error) { return float32(math.NaN()), nil },
		"no such operator":      func([]float32) (float32, error) { return 0, errors.New("no such operator") },
	} {
		network := &fakeNetwork{judgeFunc: judge}
		_, err := start(Params{}, network, 2)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
		if network.closed != 1 {
			t.Errorf("%s: the network was closed %d times", says, network.closed)
		}
	}
}
