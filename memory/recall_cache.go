package memory

import (
	"sync"
	"time"

	"parlance.dev/parlance/workspaces"
)

const (
	// cacheTime bounds the age of a cached memory. NOTIFY removes it earlier, unless the listening
	// connection was lost unnoticed.
	cacheTime = time.Minute
	// maxCachedUsers bounds the cache.
	maxCachedUsers = 4096
)

// recallCache keeps the memories that Recall reads. It keeps nothing until it is enabled.
type recallCache struct {
	mu      sync.Mutex
	enabled bool
	changes int64
	users   map[string]cachedUser
}

type cachedUser struct {
	items     []Item
	expiresAt time.Time
}

// enable empties the cache and starts caching: changes will be notified from now on.
func (r *recallCache) enable() {
	r.disable()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enabled = true
}

// disable empties the cache and stops caching.
func (r *recallCache) disable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enabled, r.users = false, map[string]cachedUser{}
	r.changes++
}

// version is a parameter of put: memories that were read before a change are not cached.
func (r *recallCache) version() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func (r *recallCache) get(ref workspaces.Ref, userID string, now time.Time) ([]Item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	user, there := r.users[userKey(ref, userID)]
	return user.items, there && now.Before(user.expiresAt)
}

func (r *recallCache) put(ref workspaces.Ref, userID string, items []Item, version int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.enabled || r.changes != version {
		return
	}
	if len(r.users) >= maxCachedUsers {
		r.users = map[string]cachedUser{}
	}
	r.users[userKey(ref, userID)] = cachedUser{items, now.Add(cacheTime)}
}

// forget removes a user after a change by this node, without waiting for NOTIFY.
func (r *recallCache) forget(ref workspaces.Ref, userID string) { r.drop(userKey(ref, userID)) }

func (r *recallCache) drop(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	delete(r.users, key)
}
