package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// place is a workspace with an agent, and a key for it.
type place struct{ tenant, workspace, agent, key string }

// newPlace makes a workspace of its own in a tenant of its own.
func (w *world) newPlace(ctx context.Context, name string) (place, error) {
	tenant, err := w.NewTenant(ctx, name)
	if err != nil {
		return place{}, err
	}
	p := place{tenant: tenant.TenantID, workspace: tenant.WorkspaceID, key: tenant.APIKey}
	p.agent, err = w.newAgent(ctx, p)
	return p, err
}

func (w *world) newAgent(ctx context.Context, p place) (string, error) {
	var agent struct {
		ID string `json:"id"`
	}
	err := w.at(p).Post(ctx, "/workspaces/"+p.workspace+"/agents", map[string]any{"name": "Bench"}, &agent)
	return agent.ID, err
}

// at is the world with the key of a place.
func (w *world) at(p place) *world {
	there := *w
	there.Key = p.key
	return &there
}

// file is something to upload.
type file struct {
	name, mediaType string
	data            []byte
}

// upload stores a file and returns its source.
func (w *world) upload(ctx context.Context, p place, f file) (string, error) {
	body, contentType := f.form()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		w.URL+"/v1/workspaces/"+p.workspace+"/knowledge-base/sources/upload", body)
	if err != nil {
		return "", fmt.Errorf("making a request: %w", err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + p.key}, "Content-Type": {contentType}}
	response, err := w.HTTP.Do(request)
	if err != nil {
		return "", fmt.Errorf("uploading %s: %w", f.name, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusAccepted {
		return "", fmt.Errorf("uploading %s answered %d %s (%w)", f.name, response.StatusCode, answer, err)
	}
	var source struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &source); err != nil {
		return "", fmt.Errorf("reading the source: %w", err)
	}
	return source.ID, nil
}

// form is the file as a form; the file itself is not copied.
func (f file) form() (body io.Reader, contentType string) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	_, _ = form.CreatePart(textproto.MIMEHeader{ // a Buffer never fails
		"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", "file", f.name)}, "Content-Type": {f.mediaType},
	})
	end := strings.NewReader("\r\n--" + form.Boundary() + "--\r\n")
	return io.MultiReader(&head, bytes.NewReader(f.data), end), form.FormDataContentType()
}

// uploadAll uploads files, some at once, and returns their sources in order.
func (w *world) uploadAll(ctx context.Context, p place, files []file) ([]string, error) {
	ids := make([]string, len(files))
	group, uploading := errgroup.WithContext(ctx)
	group.SetLimit(callers)
	for i, f := range files {
		group.Go(func() (err error) {
			ids[i], err = w.upload(uploading, p, f)
			return err
		})
	}
	return ids, group.Wait()
}

// awaitReady waits until the sources are ready, and fails when one has failed.
func (w *world) awaitReady(ctx context.Context, ids []string, patience time.Duration) error {
	return w.await(ctx, patience, fmt.Sprintf("%d sources to be ready", len(ids)), func() (bool, error) {
		var ready int
		var failed string
		err := w.db.Pool.QueryRow(ctx, `
			SELECT count(*) FILTER (WHERE status = 'ready'),
			       coalesce(max(error_message) FILTER (WHERE status = 'failed'), '')
			FROM sources
			WHERE id = ANY ($1)`, ids).Scan(&ready, &failed)
		if err == nil && failed != "" {
			err = fmt.Errorf("a source failed: %s", failed)
		}
		return ready == len(ids), err
	})
}

// await asks until it is so.
func (w *world) await(ctx context.Context, patience time.Duration, what string, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if done, err := so(); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// attach attaches sources to an agent.
func (w *world) attach(ctx context.Context, p place, agent string, ids []string) error {
	for part := range slices.Chunk(ids, 100) {
		if err := w.at(p).Post(ctx, "/workspaces/"+p.workspace+"/agents/"+agent+"/knowledge-base/attach",
			map[string]any{"source_ids": part}, nil); err != nil {
			return err
		}
	}
	return nil
}

// What texts are about: a text has topicShare of its words from its topic's.
const (
	topicCount = 400
	topicWords = 40
	topicShare = 0.4
)

// writer writes text that looks like prose: words by Zipf's law out of twenty thousand, in
// sentences, each on a topic with words of its own. Without topics all texts would be equally far
// from every question, which no index of vectors is made for and no library is like.
type writer struct {
	random *rand.Rand
	words  []string
	zipf   *rand.Zipf
	// topic is the words of what is written about now.
	topic []string
}

func newWriter(seed uint64) *writer {
	t := &writer{random: rand.New(rand.NewPCG(seed, 1))}
	fixed := rand.New(rand.NewPCG(1, 1))
	const commonEnglish = "the of and to in is that it for was on are as with they be at this have from or by not what all " +
		"were when we there can an your which their if do will each how about up out many then them these some her would other " +
		"into has more two time could no make than first been its who now people my made over did down only way find use may " +
		"water long little very after called just where most know"
	t.words = strings.Fields(commonEnglish)
	for len(t.words) < 20_000 {
		word := ""
		for range 2 + fixed.IntN(3) {
			word += string("bcdfglmnprstv"[fixed.IntN(13)]) + string("aeiou"[fixed.IntN(5)])
		}
		t.words = append(t.words, word)
	}
	t.zipf = rand.NewZipf(t.random, 1.1, 4, uint64(len(t.words)-1))
	t.turn()
	return t
}

// turn turns to another topic.
func (t *writer) turn() {
	chosen := rand.New(rand.NewPCG(2, t.random.Uint64N(topicCount)))
	t.topic = make([]string, topicWords)
	for i := range t.topic {
		t.topic[i] = t.words[200+chosen.IntN(len(t.words)-200)]
	}
}

func (t *writer) sentence(words int) string {
	sentence := make([]string, words)
	for i := range sentence {
		if sentence[i] = t.words[t.zipf.Uint64()]; t.random.Float64() < topicShare {
			sentence[i] = t.topic[t.random.IntN(topicWords)]
		}
	}
	return strings.ToUpper(sentence[0][:1]) + strings.Join(sentence, " ")[1:] + "."
}

// handbook is Markdown of sections, each of the size of a small chunk.
func (t *writer) handbook(sections int) []byte {
	var page bytes.Buffer
	for i := range sections {
		t.turn()
		fmt.Fprintf(&page, "## %d %s\n\n", i, t.sentence(3))
		for range 4 {
			page.WriteString(t.sentence(12) + " ")
		}
		page.WriteString("\n\n")
	}
	return page.Bytes()
}

// quantile of times in ms.
func quantile(times []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(math.Ceil(q*float64(len(sorted))))-1)]
}
