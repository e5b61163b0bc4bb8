package ingestion

import (
	"context"
	"io"
	"sync"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/ocr"
)

// slots share what ingestion needs between tenants. More sources are at work than there are cores,
// because most of them wait. Each piece of work (a text parsed or cut, a batch embedded, a page
// read from its picture) takes a slot of its own, so a document of thousands of pages blocks
// nobody.
type slots struct {
	// compute is for work of this process, ocr for programs that read pictures, embed for calls of
	// outside embedders, fetch for URLs. Questions take none of them.
	compute, ocr, embed, fetch *fair.Gate
	// calls is how many calls of an outside embedder are made at once, cores how many batches an
	// embedder in this process makes at once.
	calls, cores int
}

// slot is a run's slot to compute. It is free for others while pictures are read, which other
// programs do.
type slot struct {
	gate   *fair.Gate
	tenant string

	mu    sync.Mutex
	leave func()
	// reading counts the pictures that are being read.
	reading int
}

// pause frees the slot for a while.
func (s *slot) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading++
	s.leave()
}

// resume takes a slot again when no other picture is being read.
func (s *slot) resume(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading--; s.reading > 0 {
		return nil
	}
	leave, err := s.gate.Enter(ctx, s.tenant)
	if err == nil {
		s.leave = leave
	}
	return err
}

// end frees the slot, if there is one.
func (s *slot) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
}

// sharedReaders are the readers of a run. They wait for a slot with each picture.
func (r *run) sharedReaders(compute *slot) document.Readers {
	readers := r.readers
	if readers.OCR != nil {
		readers.OCR = pictureReader{Reader: readers.OCR, compute: compute, gate: r.slots.ocr}
	}
	return readers
}

// pictureReader reads a picture when there is a slot for it.
type pictureReader struct {
	ocr.Reader
	compute *slot
	gate    *fair.Gate
}

// Read implements ocr.Reader.
func (p pictureReader) Read(ctx context.Context, picture io.Reader, languages []string) (ocr.Text, error) {
	p.compute.pause()
	leave, err := p.gate.Enter(ctx, p.compute.tenant)
	if err != nil {
		return ocr.Text{}, err // the run ends: it needs no slot any more
	}
	text, err := p.Reader.Read(ctx, picture, languages)
	leave()
	if resumeErr := p.compute.resume(ctx); err == nil {
		err = resumeErr
	}
	return text, err
}
