package main

import (
	"context"
	"errors"
	"net/http"

	"parlance.dev/parlance/test/bench/rig"
)

// world is an installation under measurement, with one server, which is the one that is called.
type world struct {
	rig.Installation
	options   options
	providers *providers
	sounds    *sounds

	server rig.Server
	// spent is what servers have spent that have ended.
	spent rig.CPUTime
}

// transcription is how a server hears.
type transcription string

const (
	streaming transcription = "deepgram"
	wholes    transcription = "openai"
)

func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{Installation: rig.Installation{Program: o.program, HTTP: &http.Client{}}, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.sounds, err = newSounds(ctx); err != nil {
		return w, err
	}
	w.providers = newProviders(w.sounds.agent)
	w.Settings = []string{
		"PARLANCE_MODEL_BASE_URL=" + w.providers.url, "PARLANCE_MODEL_NAME=fixed",
		"PARLANCE_STT_BASE_URL=" + w.providers.url, "PARLANCE_STT_API_KEY=fixed",
		"PARLANCE_TTS_BASE_URL=" + w.providers.url, "PARLANCE_TTS_API_KEY=fixed",
	}
	if err := w.Open(ctx, "parlance-bench-voice-", nil); err != nil {
		return w, err
	}
	if err := w.Prepare(ctx); err != nil {
		return w, err
	}
	if err := w.serve(ctx, streaming); err != nil {
		return w, err
	}
	return w, w.CreateAgent(ctx)
}

// serve replaces the server by a fresh one and waits until it is ready.
func (w *world) serve(ctx context.Context, hears transcription) (err error) {
	if w.server.Process != nil {
		spent, _ := w.server.CPU() // nothing, once it has ended
		w.spent.Own, w.spent.Children = w.spent.Own+spent.Own, w.spent.Children+spent.Children
		if err := w.server.Stop(); err != nil {
			return err
		}
	}
	w.server, err = w.Serve(ctx, w.Stack.DatabaseURL, "PARLANCE_STT_PROVIDER="+string(hears))
	w.URL = w.server.URL
	return err
}

// close ends everything and removes the files.
func (w *world) close() error {
	err := w.server.Stop()
	if w.providers != nil {
		w.providers.close()
	}
	return errors.Join(err, w.Close())
}
