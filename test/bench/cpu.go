package main

import (
	"errors"
	"fmt"
	"time"
)

// usage is what the parts of the installation have spent.
type usage struct{ server, worker, programs, postgres time.Duration }

func (u usage) minus(before usage) usage {
	return usage{u.server - before.server, u.worker - before.worker, u.programs - before.programs, u.postgres - before.postgres}
}

func (u usage) plus(more usage) usage {
	return usage{u.server + more.server, u.worker + more.worker, u.programs + more.programs, u.postgres + more.postgres}
}

func (u usage) all() time.Duration { return u.server + u.worker + u.programs + u.postgres }

// per describes the CPU time of a number of pages.
func (u usage) per(pages float64) string {
	each := func(d time.Duration) float64 { return d.Seconds() * 1000 / pages }
	return fmt.Sprintf("seconds, user and system, of the worker %.2f, of the programs of poppler %.2f, of Postgres %.2f, of the server %.2f",
		each(u.worker), each(u.programs), each(u.postgres), each(u.server))
}

// usage is what they have spent so far, but for the programs.
func (w *world) usage() (usage, error) {
	server, first := w.server.CPU()
	worker, second := w.worker.CPU()
	postgres, third := w.PostgresCPU()
	return usage{server: server.Own, worker: worker.Own + worker.Children, postgres: postgres}, errors.Join(first, second, third)
}
