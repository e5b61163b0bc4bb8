package endmodel

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"parlance.dev/parlance/platform/telemetry"
)

// Params say what is loaded. Path and Library are required.
type Params struct {
	// Path is the network's file (.onnx).
	Path string
	// Library is the file of onnxruntime's shared library, or its name, which the system finds.
	Library string
	// Metrics may be nil.
	Metrics *Metrics
	// Log gets judgements that failed; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// ErrNotBuilt is returned by Open in programs that cannot run the network.
var ErrNotBuilt = errors.New(
	"this program is built without onnxruntime; build one with: CGO_ENABLED=1 go build -tags onnxruntime ./cmd/parlance")

// network judges spectrograms.
type network interface {
	// newJudge makes a judge, which is not safe for concurrent use; several may judge at once.
	newJudge() (judge, error)
	close() error
}

// judge has its input, of featureCount elements, and judges what is in it.
type judge interface {
	input() []float32
	probability() (float32, error)
	close() error
}

// Model judges utterances in the background. It is safe for concurrent use. Close it when nobody
// asks any more.
type Model struct {
	p         Params
	network   network
	judges    []judge
	questions chan question
	closing   chan struct{}
	workers   sync.WaitGroup
}

// question is an utterance that waits to be judged.
type question struct {
	audio   []int16
	askedAt time.Time
	answer  chan<- float32
}

const (
	// queuedPerWorker bounds how many questions wait.
	queuedPerWorker = 10
	// maxWait is how long a question may wait. The silence after which most utterances end is over
	// then, so nobody needs the answer.
	maxWait = 300 * time.Millisecond
)

// Open loads onnxruntime and the network, and has it judge silence, so that a file which cannot be
// used is found at start. Only one Model can be open in a process.
// Errors: ErrNotBuilt, and what is wrong with the file or the library, in words for the operator.
func Open(p Params) (*Model, error) {
	if !Built {
		return nil, ErrNotBuilt
	}
	if _, err := os.Stat(p.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", p.Path)
	} else if err != nil {
		return nil, fmt.Errorf("look at %s: %w", p.Path, err)
	}
	network, err := openNetwork(p)
	if err != nil {
		return nil, err
	}
	m, err := start(p, network, (runtime.GOMAXPROCS(0)+1)/2)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return m, nil
}

// start makes a model of a network, which it closes when it fails.
func start(p Params, network network, workers int) (*Model, error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	m := &Model{p: p, network: network, questions: make(chan question, workers*queuedPerWorker), closing: make(chan struct{})}
	for range workers {
		judge, err := network.newJudge()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("prepare the network: %w", err), m.Close())
		}
		m.judges = append(m.judges, judge)
	}
	if err := tryOut(m.judges[0]); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	for _, judge := range m.judges {
		m.workers.Go(func() { m.work(judge) })
	}
	return m, nil
}

// tryOut has silence judged.
func tryOut(j judge) error {
	newSpectrogram().compute(j.input(), nil)
	probability, err := j.probability()
	if err != nil {
		return fmt.Errorf("the network cannot judge silence: %w", err)
	}
	if !(probability >= 0 && probability <= 1) { // nor is NaN
		return fmt.Errorf("the network judges silence as %g, which is no probability (0 to 1)", probability)
	}
	return nil
}

// Ask has an utterance judged. The channel gets the probability that its speaker has finished, or
// stays empty when the judgement fails or would come too late. It is nil when too many utterances
// wait. The network hears the last 8 s of the audio, at 16 kHz, and does not read the words. The
// caller must not change the audio.
func (m *Model) Ask(audio []int16, _ string) <-chan float32 {
	answer := make(chan float32, 1)
	select {
	case m.questions <- question{audio, m.p.Now(), answer}:
		return answer
	default:
		m.p.Metrics.dropped()
		return nil
	}
}

// work answers questions with a judge of its own.
func (m *Model) work(j judge) {
	spectrogram := newSpectrogram()
	for {
		select {
		case <-m.closing:
			return
		case q := <-m.questions:
			if m.p.Now().Sub(q.askedAt) > maxWait {
				m.p.Metrics.dropped()
				continue
			}
			spectrogram.compute(j.input(), q.audio)
			probability, err := j.probability()
			m.p.Metrics.answered(m.p.Now().Sub(q.askedAt), err)
			if err != nil {
				m.p.Log.Warn("the model of the end of turns failed", telemetry.KeyError, err)
				continue
			}
			q.answer <- probability
		}
	}
}

// Close ends the judgements that run, and drops those that wait. Questions that come later are not
// answered.
func (m *Model) Close() error {
	close(m.closing)
	m.workers.Wait()
	var errs []error
	for _, judge := range m.judges {
		errs = append(errs, judge.close())
	}
	return errors.Join(append(errs, m.network.close())...)
}
