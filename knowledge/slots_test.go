package knowledge_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/workspaces"
)

// slowEyes read a picture, whose text is its tenant's name, each time they are told to.
type slowEyes struct {
	mu     sync.Mutex
	begun  []string
	tokens chan struct{}
}

func (*slowEyes) Name([]string) string { return "slow 1" }

func (*slowEyes) Installed(context.Context) ([]string, error) { return []string{"eng"}, nil }

func (s *slowEyes) Read(ctx context.Context, image io.Reader, _ []string) (ocr.Text, error) {
	text, err := io.ReadAll(image)
	if err != nil {
		return ocr.Text{}, err
	}
	_, name, _ := strings.Cut(string(text), "|")
	s.mu.Lock()
	s.begun = append(s.begun, name)
	s.mu.Unlock()
	select {
	case <-s.tokens:
	case <-ctx.Done():
		return ocr.Text{}, ctx.Err()
	}
	return ocr.Text{Paragraphs: []ocr.Paragraph{{Text: "It says " + name}}, WidthPixels: 1, HeightPixels: 1, Confidence: 90}, nil
}

func (s *slowEyes) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.begun...)
}

// TestPicturesInTurn: while a tenant's pictures are read, and many more of it wait, another's is
// the next to be read; and texts are ingested meanwhile, for who waits for a picture computes
// nothing.
func TestPicturesInTurn(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	eyes := &slowEyes{tokens: make(chan struct{})}
	gates := map[string]*fair.Gate{}
	f.node = f.nodeOf(knowledge.Deps{Readers: document.Readers{OCR: eyes}}, ingestion.Deps{
		ComputeSlots: 1,
		GateFunc: func(name string, slots int) *fair.Gate {
			gates[name] = fair.New(fair.Config{Name: name, Slots: slots, MaxWaiting: 100})
			return gates[name]
		},
	})
	made, err := f.workspaces.CreateTenant(t.Context(), "small", "large")
	if err != nil {
		t.Fatal(err)
	}
	small := workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	var running sync.WaitGroup
	picture := func(ref workspaces.Ref, text string) {
		t.Helper()
		source, err := f.Upload(t.Context(), ref, knowledge.UploadParams{Filename: "a.png"}, strings.NewReader(png+"|"+text))
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := f.Ingest(t.Context(), source.ID); err != nil {
				t.Error(err)
			}
		})
	}
	slots := runtime.GOMAXPROCS(0)
	for i := range slots + 6 {
		picture(f.ref, fmt.Sprint("greedy ", i))
	}
	f.await("all cores read greedy's pictures", func() bool { return len(eyes.seen()) == slots })
	f.ready(f.ref, "a text", hours)
	f.ready(small, "a text of another", hours)
	picture(small, "small")
	f.await("they wait for their turns", func() bool { _, waiting := gates["ingest_ocr"].Count(); return waiting == 7 })
	for begun := slots + 1; begun <= slots+2; begun++ {
		eyes.tokens <- struct{}{}
		f.await("the next is read", func() bool { return len(eyes.seen()) == begun })
	}
	if got := eyes.seen(); !strings.Contains(strings.Join(got, " "), "small") {
		t.Errorf("after two more pictures these were begun: %q", got)
	}
	close(eyes.tokens)
	running.Wait()
	if n := f.count("SELECT count(*) FROM sources WHERE status = 'ready'"); n != slots+9 {
		t.Errorf("%d sources are ready, want %d", n, slots+9)
	}
}
