package recordings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// storeTimeout bounds one attempt to store a segment.
	storeTimeout = 30 * time.Second
	// dueAfter is how long the file of a segment is expected that its writer has not confirmed. It is
	// far above storeTimeout.
	dueAfter = 10 * time.Minute
	// retryPause is the pause after the first failed attempt; it is doubled with each, to
	// maxRetryPause.
	retryPause    = 100 * time.Millisecond
	maxRetryPause = 5 * time.Second
	// endTimeout bounds what is written when the time of Close is over.
	endTimeout = 2 * time.Second
)

// writer stores the segments of a Recorder.
type writer struct {
	*Service
	r *Recorder
}

// run stores the part and its segments as they come, until the Recorder is closed and all is
// stored, or ctx ends.
func (w writer) run(ctx context.Context) {
	err := w.retry(ctx, func(ctx context.Context) error { return insertPart(ctx, w.db, w.r.part) })
	if err == nil {
		err = w.storeAll(ctx)
	}
	if errors.Is(err, errGone) {
		w.r.abandon(err)
		return
	}
	if err != nil {
		w.r.log.ErrorContext(ctx, "the end of a recording was not stored", telemetry.KeyError, err)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	w.r.part.EndedAt, w.r.part.Incomplete = w.now(), w.r.isIncomplete()
	if err := endPart(ending, w.db, w.r.part); err != nil { // it is incomplete when the session is over for a while
		w.r.log.ErrorContext(ctx, "the end of a recording was not noted", telemetry.KeyError, err)
	}
}

// storeAll stores segments until there will be no more.
func (w writer) storeAll(ctx context.Context) error {
	for number := 0; ; {
		s, ok, last := w.r.next()
		switch {
		case last:
			return nil
		case !ok:
			select {
			case <-w.r.woken:
			case <-ctx.Done():
				return ctx.Err()
			}
		default:
			if err := w.retry(ctx, func(ctx context.Context) error { return w.store(ctx, number, s) }); err != nil {
				return err
			}
			number++
			w.r.stored()
		}
	}
}

// retry repeats work until it succeeds, finds the recording erased, or ctx ends.
func (w writer) retry(ctx context.Context, work func(ctx context.Context) error) error {
	for pause := retryPause; ; pause = min(2*pause, maxRetryPause) {
		attempt, cancel := context.WithTimeout(ctx, storeTimeout)
		err := work(attempt)
		cancel()
		if err == nil || errors.Is(err, errGone) {
			return err
		}
		if pause == retryPause {
			w.r.log.WarnContext(ctx, "recording waits", telemetry.KeyError, err)
		}
		if waitErr := ticker.Wait(ctx, pause); waitErr != nil {
			return errors.Join(waitErr, err)
		}
	}
}

// store stores one segment: its row, its file, and that the file is there.
func (w writer) store(ctx context.Context, number int, s segment) error {
	part := w.r.part
	row := storedSegment{
		PartID: part.ID, Number: number, TenantID: part.TenantID, WorkspaceID: part.WorkspaceID, SessionID: part.SessionID,
		Frames: int64(s.frames), Marks: s.marks,
	}
	if row.Marks == nil {
		row.Marks = []Mark{}
	}
	if s.isSilent() {
		return insertSegment(ctx, w.db, row)
	}
	row.Key = fmt.Sprintf("recordings/%s/%s/%s-%06d.wav", part.WorkspaceID, part.SessionID, part.ID, number)
	row.DueAt = w.now().Add(dueAfter)
	if err := insertSegment(ctx, w.db, row); err != nil {
		return err
	}
	if _, _, err := w.bucket.Put(ctx, row.Key, bytes.NewReader(encode(s))); err != nil {
		return fmt.Errorf("store a segment: %w", err)
	}
	err := confirmSegment(ctx, w.db, row)
	if errors.Is(err, errGone) {
		err = errors.Join(err, w.bucket.Delete(ctx, row.Key))
	}
	return err
}

// encode makes the WAV file of a segment.
func encode(s segment) []byte {
	file := make([]byte, 0, headerBytes+s.frames*frameBytes)
	file = audio.AppendWAVHeader(file, fileFormat, channels, s.frames)
	for _, block := range s.blocks {
		left := (cap(file) - len(file)) / 2
		if block == nil {
			file = append(file, make([]byte, 2*min(left, blockFrames*channels))...)
			continue
		}
		file = fileFormat.AppendEncode(file, block[:min(left, len(block))])
	}
	return append(file, make([]byte, cap(file)-len(file))...) // silence at its end
}
