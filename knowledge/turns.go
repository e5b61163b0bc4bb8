package knowledge

import (
	"context"
	"io"
	"math"
	"runtime"
	"sync"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/ocr"
)

// defaultEmbedCalls is how many calls of an outside embedder this process makes at once.
const defaultEmbedCalls = 4

// turns share what ingestion needs between the tenants whose sources are at work here: many more
// than there are cores may be, because most of them wait. Each piece of work (a text parsed or cut,
// a batch embedded, a page read from its picture) takes a turn of its own, so that a document of
// thousands of pages is in nobody's way.
type turns struct {
	// compute is for work of this process, ocr for programs that read pictures, embed for calls of
	// outside embedders, questions apart, of which there are calls.
	compute, ocr, embed *fair.Gate
	// calls are made at once of an embedder that is asked over the network; one in the process has all cores.
	calls, cores int
}

func newTurns(d Deps) turns {
	gate := d.GateFunc
	if gate == nil {
		gate = func(name string, slots int) *fair.Gate {
			return fair.New(fair.Config{Name: name, Slots: slots, MaxWaiting: math.MaxInt, Now: d.Now})
		}
	}
	cores, calls, compute := runtime.GOMAXPROCS(0), d.EmbedCalls, d.ComputeSlots
	if calls <= 0 {
		calls = defaultEmbedCalls
	}
	if compute <= 0 {
		compute = cores
	}
	return turns{compute: gate("ingest_compute", compute), ocr: gate("ingest_ocr", cores), embed: gate("ingest_embed", calls), calls: calls, cores: cores}
}

// turn is a run's turn to compute. It is given back while pictures are read, which other programs do.
type turn struct {
	gate   *fair.Gate
	tenant string

	mu    sync.Mutex
	leave func()
	// away counts the pictures that are being read.
	away int
}

// pause gives the turn back for a while.
func (t *turn) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away++
	t.leave()
}

// resume waits for the next turn when no other picture is being read.
func (t *turn) resume(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away--; t.away > 0 {
		return nil
	}
	leave, err := t.gate.Enter(ctx, t.tenant)
	if err == nil {
		t.leave = leave
	}
	return err
}

// end gives the turn back, if there is one.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave()
}

// readersInTurn are the readers of a run, which wait for their turn with each picture.
func (r *run) readersInTurn(compute *turn) document.Readers {
	readers := r.readers
	if readers.OCR != nil {
		readers.OCR = pictureReader{Reader: readers.OCR, compute: compute, gate: r.turns.ocr}
	}
	return readers
}

// pictureReader reads a picture when it is the tenant's turn.
type pictureReader struct {
	ocr.Reader
	compute *turn
	gate    *fair.Gate
}

// Read implements ocr.Reader.
func (p pictureReader) Read(ctx context.Context, image io.Reader, options ocr.Options) (ocr.Text, error) {
	p.compute.pause()
	leave, err := p.gate.Enter(ctx, p.compute.tenant)
	if err != nil {
		return ocr.Text{}, err // the run ends: it needs no turn any more
	}
	text, err := p.Reader.Read(ctx, image, options)
	leave()
	if again := p.compute.resume(ctx); err == nil {
		err = again
	}
	return text, err
}
