package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// leastMajor is the oldest Redis that Parlance is tried with.
const leastMajor = 7

// Inspect lists what of a server, or of any node of a cluster, will do harm: a policy that throws
// keys away, an old version. Each is a sentence with what to do. It waits two seconds at most.
// Errors: Redis does not answer.
func Inspect(ctx context.Context, client goredis.UniversalClient) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	nodes, isCluster := client.(*goredis.ClusterClient)
	if !isCluster {
		return inspect(ctx, client)
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	err = nodes.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error {
		found, err := inspect(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		for _, warning := range found {
			if !seen[warning] {
				seen[warning] = true
				warnings = append(warnings, warning)
			}
		}
		return err
	})
	return warnings, err
}

// inspect reads INFO, which managed servers allow where they refuse CONFIG.
func inspect(ctx context.Context, node goredis.Cmdable) (warnings []string, err error) {
	info, err := node.Info(ctx, "server").Result()
	if err == nil {
		var memory string
		memory, err = node.Info(ctx, "memory").Result()
		info += memory
	}
	if _, refused := errors.AsType[goredis.Error](err); refused {
		return nil, nil // an ACL without INFO: there is nothing to look at
	}
	if err != nil {
		return nil, fmt.Errorf("asking Redis what it is: %w", err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	if policy := fields["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		warnings = append(warnings, fmt.Sprintf("maxmemory-policy is %s: set it to noeviction, or queued tasks are "+
			"thrown away when memory is short and wait for the sweeper", policy))
	}
	version := fields["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < leastMajor {
		warnings = append(warnings, fmt.Sprintf("Redis %s is older than %d, the oldest that Parlance is tried with", version, leastMajor))
	}
	return warnings, nil
}
