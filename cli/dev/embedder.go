package dev

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/model/discover"
)

// probeTimeout is long enough for most servers to load an embedding model from the disk.
const probeTimeout = 20 * time.Second

// foundEmbedder is an embedding model on this machine. A nil one is none.
type foundEmbedder struct {
	product string
	at      app.Provider
	// used says that it embeds in this run.
	used bool
	// done is closed when probed and err are set.
	done   chan struct{}
	probed embedding.Probed
	err    error
}

func newFoundEmbedder(found discover.Found) *foundEmbedder {
	return &foundEmbedder{product: found.Product, at: app.Provider{BaseURL: found.BaseURL, Name: found.Embedding[0]}}
}

// probeEmbedder has the found model embed a question, in the background while Postgres starts. The
// call is the one that a server makes with these settings.
func (d *dev) probeEmbedder(ctx context.Context) {
	if d.embedder == nil {
		return
	}
	config, found := d.config, d.embedder
	config.Embedding.Provider = found.at
	found.done = make(chan struct{})
	go func() {
		defer close(found.done)
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		embedder, _, err := app.DefaultEmbedder(config)
		if err == nil {
			found.probed, err = embedding.Probe(ctx, embedder, time.Now)
		}
		found.err = err
	}()
}

// wait waits for the probe, if one was started.
func (f *foundEmbedder) wait() {
	if f != nil && f.done != nil {
		<-f.done
	}
}

// chooseEmbedder uses the found model with --embedding auto, if it answers. Otherwise the model may
// still embed the questions of workspaces that it embedded in an earlier run, until the built-in
// embedder has embedded their sources.
func (d *dev) chooseEmbedder() {
	found := d.embedder
	if found == nil {
		return
	}
	if d.options.embedding == auto {
		found.wait()
		found.used = found.err == nil
	}
	if found.used {
		d.config.Embedding.Provider = found.at
	} else if d.config.EmbeddingPrevious.BaseURL == "" {
		d.config.EmbeddingPrevious.Provider = found.at
	}
}

// embedderWords are the lines of the banner on what embeds; described is what the service says.
func (d *dev) embedderWords(described string) []string {
	found := d.embedder
	if found == nil {
		return []string{described, "change it: --embedding-base-url URL --embedding-name NAME (any OpenAI-compatible /v1/embeddings)"}
	}
	found.wait()
	where := found.product + " on this machine"
	settings := fmt.Sprintf("PARLANCE_EMBEDDING_BASE_URL=%s PARLANCE_EMBEDDING_NAME=%s", found.at.BaseURL, shellQuote(found.at.Name))
	if found.err != nil {
		return []string{
			described, fmt.Sprintf("%s serves %s, which gave no vector: %v", where, found.at.Name, found.err),
			"try it again: --embedding auto, or " + settings,
		}
	}
	gives := fmt.Sprintf("vectors of %d numbers, %s a question", found.probed.Dimension, found.probed.Took.Round(time.Millisecond))
	if found.used {
		return []string{
			fmt.Sprintf("%s (%s; %s; --embedding none refuses it)", described, where, gives),
			"keep it, whatever else is found: " + settings,
		}
	}
	return []string{
		described, fmt.Sprintf("%s serves %s, a neural model that compares sentences: %s", where, found.at.Name, gives),
		"use it: --embedding auto, or " + settings + "; all sources are embedded again, in the background",
	}
}
