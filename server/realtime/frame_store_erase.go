package realtime

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/sessions"
)

// ForgetFrames empties what Redis keeps of the sockets of sessions, for clients that come back. The
// streams stay until they expire: a node that writes a last frame would make a deleted one anew,
// without an end.
func ForgetFrames(ctx context.Context, redis goredis.UniversalClient, ids ...sessions.ID) error {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	for _, id := range ids {
		for _, channel := range []sessions.Channel{sessions.VoiceChannel, sessions.ChatChannel} {
			numbers, err := redis.LRange(ctx, listKey(id, channel), 0, -1).Result()
			if err != nil {
				return fmt.Errorf("read the sockets of a session: %w", err)
			}
			for _, number := range numbers {
				if err := redis.XTrimMaxLen(ctx, listKey(id, channel)+":"+number, 0).Err(); err != nil {
					return fmt.Errorf("empty the frames of a session: %w", err)
				}
			}
		}
	}
	return nil
}
