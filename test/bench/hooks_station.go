package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

// station is a tenant with endpoints, and what publishes to them.
type station struct {
	*hookServer
	w         *world
	place     place
	paths     []string
	endpoints []string
	redis     int
	client    *http.Client
	secret    string
}

func (w *world) openStation(ctx context.Context, name string, endpoints int) (*station, error) {
	p, err := w.newPlace(ctx, name)
	if err != nil {
		return nil, err
	}
	s := &station{hookServer: w.hooks, w: w, place: p, client: w.hooks.server.Client()}
	s.client.Transport.(*http.Transport).MaxIdleConnsPerHost = hookCalls //nolint:forcetypeassert // httptest's own
	for i := range endpoints {
		var made struct{ ID, Secret string }
		path := fmt.Sprintf("/%s/%d", name, i)
		err := w.at(p).Post(ctx, "/workspaces/"+p.workspace+"/webhooks", map[string]any{
			"url": w.hooks.server.URL + path, "events": []string{string(events.KBSourceIngested)},
		}, &made)
		if err != nil {
			return nil, err
		}
		s.secret, s.paths, s.endpoints = made.Secret, append(s.paths, path), append(s.endpoints, made.ID)
	}
	s.redis, err = w.redisProcess(ctx)
	return s, err
}

// close removes the endpoints, so that nothing of theirs is in the way of others.
func (s *station) close(ctx context.Context) {
	s.hang.Store(false)
	for _, id := range s.endpoints {
		// Whoever stays gets nothing more, for its tenant publishes nothing more.
		_ = s.w.at(s.place).Do(ctx, http.MethodDelete, "/workspaces/"+s.place.workspace+"/webhooks/"+id, nil, nil)
	}
}

// profile writes the worker's CPU profile of the next seconds, when a directory for profiles is
// set; the function that it returns waits for it.
func (s *station) profile(ctx context.Context) (wait func()) {
	var writing sync.WaitGroup
	writing.Go(func() {
		if err := s.w.profile(ctx, "worker-cpu", "/profile?seconds=15"); err != nil {
			fmt.Fprintln(os.Stderr, "no profile:", err)
		}
	})
	return writing.Wait
}

// bare posts n events by a client that does nothing but sign and send, and returns how many a
// second.
func (s *station) bare(ctx context.Context, n int) (perSecond float64, err error) {
	body, err := events.Body(s.event())
	if err != nil {
		return 0, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.secret, "whsec_"))
	if err != nil {
		return 0, fmt.Errorf("reading the secret: %w", err)
	}
	awaited := s.expect(n)
	var (
		next    atomic.Int64
		working errgroup.Group
	)
	began := time.Now()
	for range hookCalls {
		working.Go(func() error {
			for next.Add(1) <= int64(n) {
				id := idgen.New(idgen.Event)
				at := strconv.FormatInt(time.Now().Unix(), 10)
				header := http.Header{
					"Content-Type": {"application/json"}, "Webhook-Id": {id}, "Webhook-Timestamp": {at},
					"Webhook-Signature":    {"v1," + base64.StdEncoding.EncodeToString(signed(key, id+"."+at+".", body))},
					"X-Parlance-Signature": {"sha256=" + hex.EncodeToString(signed([]byte(s.secret), "", body))},
					"X-Parlance-Event":     {string(events.KBSourceIngested)}, "X-Parlance-Event-Id": {id}, "X-Parlance-Timestamp": {at},
				}
				c := call{method: http.MethodPost, url: s.server.URL + s.paths[0], header: header, body: body, status: http.StatusOK}
				if err := c.send(ctx, s.client); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := working.Wait(); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return float64(n) / took.Seconds(), s.await(ctx, awaited)
}

func signed(key []byte, before string, body []byte) []byte {
	hash := hmac.New(sha256.New, key)
	_, _ = io.WriteString(hash, before) // a hash takes everything
	_, _ = hash.Write(body)
	return hash.Sum(nil)
}

// drain publishes n events while the worker is stopped, lets it go on, and measures until all
// endpoints have all of them. publishing is how many a second were appended.
func (s *station) drain(ctx context.Context, n int) (perSecond float64, spent hookUsage, publishing float64, err error) {
	awaited := s.expect(n * len(s.paths))
	worker := s.w.worker
	if err := worker.Signal(syscall.SIGSTOP); err != nil {
		return 0, spent, 0, fmt.Errorf("stopping the worker: %w", err)
	}
	began := time.Now()
	_, err = s.publishAll(ctx, n)
	publishing = float64(n) / time.Since(began).Seconds()
	before, failed := s.usage()
	began = time.Now()
	if err := errors.Join(err, failed, worker.Signal(syscall.SIGCONT), s.await(ctx, awaited)); err != nil {
		return 0, spent, 0, err
	}
	took := time.Since(began)
	after, err := s.settled(ctx)
	return float64(n*len(s.paths)) / took.Seconds(), after.minus(before), publishing, err
}

// flowed is how n events went that were delivered while they were published.
type flowed struct {
	perSecond float64
	// latencies are from commit to receipt, in order of length.
	latencies []time.Duration
}

func (s *station) flow(ctx context.Context, n int) (flowed, error) {
	awaited := s.expect(n * len(s.paths))
	began := time.Now()
	committed, err := s.publishAll(ctx, n)
	if err == nil {
		err = s.await(ctx, awaited)
	}
	took := time.Since(began)
	if err == nil {
		_, err = s.settled(ctx)
	}
	return flowed{perSecond: float64(n*len(s.paths)) / took.Seconds(), latencies: s.latencies(committed)}, err
}

// paced publishes events at a steady rate for a while, and returns the latencies to the endpoints
// that answer.
func (s *station) paced(ctx context.Context, rate int, lasts time.Duration) ([]time.Duration, error) {
	n := int(lasts.Seconds() * float64(rate))
	expected := n * len(s.paths)
	if s.hang.Load() {
		expected -= n
	}
	awaited := s.expect(expected)
	var (
		mu        sync.Mutex
		committed = make(map[string]time.Time, n)
		working   errgroup.Group
	)
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for range n {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("publishing: %w", ctx.Err())
		}
		working.Go(func() error {
			id, at, err := s.publish(ctx)
			mu.Lock()
			defer mu.Unlock()
			committed[id] = at
			return err
		})
	}
	if err := errors.Join(working.Wait(), s.await(ctx, awaited)); err != nil {
		return nil, err
	}
	return s.latencies(committed), nil
}

// latencies are from each commit to each receipt, in order of length.
func (s *station) latencies(committed map[string]time.Time) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for _, path := range s.paths {
		for id, at := range committed {
			if got, ok := s.came[path+id]; ok {
				all = append(all, max(0, got.Sub(at))) // the commit's answer may come after the delivery
			}
		}
	}
	slices.Sort(all)
	return all
}

// settled waits until every result is written down, and returns what that has cost.
func (s *station) settled(ctx context.Context) (hookUsage, error) {
	err := s.w.await(ctx, answerPatience, "results to be written down", func() (bool, error) {
		var open int
		err := s.w.db.NewRaw(postgres.RawForAllTenants("the bench's own installation",
			"SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'")).Scan(ctx, &open)
		return open == 0, err
	})
	if err != nil {
		return hookUsage{}, err
	}
	return s.usage()
}
