package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/bench/rig"
)

// world is an installation under measurement, with one server, which is the one that is called.
type world struct {
	rig.Installation
	server *rig.Process
	model  *instantModel
	// paced is the model of the sessions' figures, in place of model.
	paced *pacedModel
	round time.Duration

	// worker and db are there for the knowledge base and the sessions only; chunks is how many its
	// large workspace gets.
	worker *rig.Process
	db     *postgres.DB
	chunks int

	// debug is where the newest server serves its profiles; profiles, when set, is where some are
	// written to.
	debug, profiles string
	// sockets, speakers and period are the crowd; hall is where it meets.
	sockets, speakers int
	talk              time.Duration
	hall              *place
	// hooks is there for the webhooks' figures only.
	hooks *hookServer
}

func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{
		Installation: rig.Installation{
			Program: o.program, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * callers}},
		},
		round: o.round, chunks: o.chunks, sockets: o.sockets, speakers: o.speakers, talk: o.talk, profiles: o.profiles,
		model: newInstantModel(), paced: newPacedModel(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	var tools []devstack.Tool
	if o.kb {
		tools = devstack.DocumentTools()
	}
	if err := w.Open(ctx, "parlance-bench-", tools); err != nil {
		return w, err
	}
	if err := w.set(o); err != nil {
		return w, err
	}
	if err := w.Prepare(ctx); err != nil {
		return w, err
	}
	if w.server, w.URL, err = w.serve(ctx, w.Stack.DatabaseURL); err != nil {
		return w, err
	}
	if err := w.CreateAgent(ctx); err != nil || !(o.kb || o.sessions || o.webhooks) {
		return w, err
	}
	if w.db, err = postgres.Open(ctx, postgres.Config{URL: w.Stack.DatabaseURL}); err != nil || o.sessions {
		return w, err
	}
	if !o.webhooks {
		w.worker, err = w.Work()
		return w, err
	}
	debug, err := rig.FreeAddress(ctx)
	if err != nil {
		return w, err
	}
	w.debug = rig.ProfilesAt(debug) // the profiles of the webhooks' figures are the worker's
	w.worker, err = w.Work("PARLANCE_DEBUG_LISTEN=" + debug)
	return w, err
}

// set makes the settings of the programs: the model, and who receives webhooks.
func (w *world) set(o options) (err error) {
	model := w.model.url
	if o.sessions {
		model = w.paced.url
	}
	w.Settings = []string{"PARLANCE_MODEL_BASE_URL=" + model, "PARLANCE_MODEL_NAME=instant"}
	if !o.webhooks {
		return nil
	}
	if w.hooks, err = newHookServer(w.Dir); err != nil {
		return err
	}
	w.Settings = append(w.Settings, "PARLANCE_EGRESS_CA_FILE="+w.hooks.caFile)
	return nil
}

// withServer is the world with another server on that database, which the caller stops.
func (w *world) withServer(ctx context.Context, database string) (*world, error) {
	server, url, err := w.serve(ctx, database)
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	there := *w
	there.server, there.URL = server, url
	return &there, nil
}

// serve starts a server on that database and waits until it is ready. After an error it may have
// been started, and is then returned to be stopped.
func (w *world) serve(ctx context.Context, database string) (*rig.Process, string, error) {
	s, err := w.Serve(ctx, database)
	if err == nil {
		w.debug = s.Debug
	}
	return s.Process, s.URL, err
}

// close ends everything and removes the files.
func (w *world) close() error {
	err := errors.Join(w.worker.Stop(), w.server.Stop())
	if w.db != nil {
		_ = w.db.Close() // the databases end
	}
	w.model.close()
	w.paced.close()
	w.hooks.close()
	return errors.Join(err, w.Close())
}
