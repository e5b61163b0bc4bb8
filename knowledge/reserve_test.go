package knowledge_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
)

// underWay is an upload of a text that has begun and waits for the rest of its bytes.
type underWay struct {
	pipe *io.PipeWriter
	done chan error
}

func (f *fixture) begin(first string, atLeast int64) underWay {
	f.t.Helper()
	r, w := io.Pipe()
	u := underWay{pipe: w, done: make(chan error, 1)}
	go func() {
		_, err := f.Upload(f.t.Context(), f.ref, knowledge.UploadParams{Filename: "a.txt", AtLeastBytes: atLeast}, r)
		_ = r.CloseWithError(errors.New("the upload is over")) // for who still writes
		u.done <- err
	}()
	_, _ = io.WriteString(w, first) // fails when the upload is over, whose error counts
	return u
}

// end sends the rest, or ends the upload with err.
func (u underWay) end(rest string, err error) error {
	_, _ = io.WriteString(u.pipe, rest)
	_ = u.pipe.CloseWithError(err) // nil: io.EOF
	return <-u.done
}

// sniffed is more than what is looked at before anything is stored.
var sniffed = strings.Repeat("Some text. ", 300)

// TestHold: bytes that are known to come count before they are stored, and no longer when the
// upload has failed.
func TestHold(t *testing.T) {
	t.Parallel()
	f := setUp(t, "small", nil)
	const known = 3 << 20
	var held []underWay
	for range 2 {
		held = append(held, f.begin(sniffed, known))
	}
	upload := func(bytes int64) error {
		_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "b.txt", AtLeastBytes: bytes},
			strings.NewReader(strings.Repeat("b", int(bytes))))
		return err
	}
	f.await("both hold", func() bool { return f.count("SELECT count(*) FROM upload_holds") == 2 })
	if used := f.used(); used != 0 {
		t.Errorf("%d bytes count as stored", used)
	}
	if err := upload(2<<20 + 1); !fault.IsReason(err, fault.QuotaKBStorage) {
		t.Errorf("beside two of 3 MiB: got %v", err)
	}
	if _, err := f.CreateInline(t.Context(), f.ref, "pasted", strings.Repeat("c", 1<<20)); err != nil {
		t.Errorf("what fits beside them: %v", err)
	}
	if _, err := f.CreateInline(t.Context(), f.ref, "pasted", strings.Repeat("d", 1<<20)+"d"); err == nil {
		t.Error("pasted text over 1 MiB was taken")
	}
	if err := held[0].end("", errors.New("hung up")); err == nil {
		t.Error("an upload that was cut off was taken")
	}
	if err := upload(4 << 20); err != nil {
		t.Errorf("into the room that was given back: %v", err)
	}
	if err := held[1].end(strings.Repeat("x", known-len(sniffed)), nil); err != nil {
		t.Errorf("an upload that held its room: %v", err)
	}
	if used := f.used(); used != 8<<20 || f.count("SELECT count(*) FROM upload_holds") != 0 || f.storedBytes() != 8<<20 {
		t.Errorf("used %d, stored %d", used, f.storedBytes())
	}
}

// TestHoldOfTheDead: what an upload held whose server was killed counts for two minutes, and what
// an upload holds that goes on counts as long as it does.
func TestHoldOfTheDead(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	_, err := f.db.ExecContext(t.Context(), "INSERT INTO upload_holds VALUES (?, ?, ?, 600, ?)",
		string(f.ref.ID)+"/dead", f.ref.TenantID, f.ref.ID, f.clock.now().Add(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	upload := func() error {
		_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "a.txt"}, strings.NewReader(strings.Repeat("a", 500)))
		return err
	}
	if err := upload(); !fault.IsReason(err, fault.QuotaKBStorage) {
		t.Errorf("beside 600 of 1,000: got %v", err)
	}
	f.clock.advance(2*time.Minute + time.Second)
	if err := upload(); err != nil {
		t.Errorf("two minutes later: %v", err)
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil || f.count("SELECT count(*) FROM upload_holds") != 0 {
		t.Errorf("the sweep left it: %v", err)
	}

	f = setUp(t, "small", nil)
	slow := f.begin(sniffed, 4<<20)
	f.await("it holds", func() bool { return f.count("SELECT count(*) FROM upload_holds") == 1 })
	for range 6 {
		f.clock.advance(40 * time.Second)
		before := f.count("SELECT extract(epoch FROM held_until)::bigint FROM upload_holds")
		_, _ = io.WriteString(slow.pipe, "more. ")
		f.await("it goes on holding", func() bool {
			return f.count("SELECT extract(epoch FROM held_until)::bigint FROM upload_holds") > before
		})
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "b.txt", AtLeastBytes: 4<<20 - 1},
		strings.NewReader("b")); err != nil {
		t.Errorf("what fits beside it: %v", err)
	}
	if _, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "b.txt", AtLeastBytes: 4 << 20},
		strings.NewReader("b")); !fault.IsReason(err, fault.QuotaKBStorage) {
		t.Errorf("what does not: %v", err)
	}
	if err := slow.end("", nil); err != nil {
		t.Errorf("the slow upload: %v", err)
	}
}

// TestHoldsAtTheEdge sends fifty files of a MiB at once to a workspace of eight: eight are stored,
// and the bucket never holds much more than the plan, whether or not the size is known beforehand.
func TestHoldsAtTheEdge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		atLeast, most int64
	}{
		"Known":   {1 << 20, 8 << 20},
		"Unknown": {0, 8<<20 + 50*(256<<10+32<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t, "small", nil)
			var stored atomic.Int64
			var uploads sync.WaitGroup
			ended := make(chan struct{})
			for i := range 50 {
				uploads.Go(func() {
					body := bytes.Repeat([]byte{byte('0' + i)}, 1<<20)
					_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{
						Filename:     "a.txt",
						AtLeastBytes: row.atLeast,
					}, bytes.NewReader(body))
					if err == nil {
						stored.Add(1)
					} else if !fault.IsReason(err, fault.QuotaKBStorage) {
						t.Errorf("got %v, want quota-exceeded-kb-storage", err)
					}
				})
			}
			go func() { uploads.Wait(); close(ended) }()
			var most int64
			for over := false; !over; {
				most = max(most, f.storedBytes())
				select {
				case <-ended:
					over = true
				default:
				}
			}
			if stored.Load() != 8 || f.used() != 8<<20 || f.files() != 8 || f.count("SELECT count(*) FROM upload_holds") != 0 {
				t.Errorf("stored %d, used %d, files %d; want 8, all of the plan, 8", stored.Load(), f.used(), f.files())
			}
			if most > row.most {
				t.Errorf("the bucket held %d bytes at a time, want at most %d", most, row.most)
			}
			t.Logf("the bucket held %d bytes at most", most)
		})
	}
}

// await looks until ok.
func (f *fixture) await(what string, ok func() bool) {
	f.t.Helper()
	ticker, end := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-end:
			f.t.Fatalf("not within a minute: %s", what)
		}
	}
}
