package tools

import (
	"cmp"
	"sync"
	"time"

	"parlance.dev/parlance/platform/breaker"
)

// maxRules is the number of rules from which on all circuits are forgotten.
const maxRules = 1024

// ruledBreakers has a breaker for each rule that tools have. A tool whose rule is changed begins
// with a closed circuit. The zero value is empty. Safe for concurrent use.
type ruledBreakers struct {
	mu     sync.Mutex
	byRule map[breaker.Options]*breaker.Breaker
}

// get returns the breaker of a rule; nil is the installation's rule.
func (r *ruledBreakers) get(rule *Breaker) *breaker.Breaker {
	options := breaker.Options{MinCalls: breakerMinCalls}
	if rule != nil {
		options = breaker.Options{
			MinCalls: cmp.Or(rule.MinCalls, breakerMinCalls), FailureRatio: rule.FailureRatio,
			Window: time.Duration(rule.WindowSeconds) * time.Second, Pause: time.Duration(rule.PauseSeconds) * time.Second,
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byRule == nil || len(r.byRule) >= maxRules {
		r.byRule = map[breaker.Options]*breaker.Breaker{}
	}
	if r.byRule[options] == nil {
		r.byRule[options] = breaker.New(options)
	}
	return r.byRule[options]
}
