package people_test

import (
	"testing"
	"time"
)

// TestShortIdleTime signs nobody out who makes requests, however short the idle time is.
func TestShortIdleTime(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.Service.MaxIdle = time.Minute
	for _, pause := range []time.Duration{10 * time.Second, 50 * time.Second} {
		token := o.signIn(t, "ada", "bosses").Token
		for range 30 {
			o.pass(pause)
			if o.role(t, token) == "" {
				t.Fatalf("signed out though there was a request every %s", pause)
			}
		}
		o.pass(time.Minute)
		if o.role(t, token) != "" {
			t.Error("still signed in after the idle time")
		}
	}
}
