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
	pipe := redis.Pipeline()
	sockets := map[string]*goredis.StringSliceCmd{} // by list
	for _, id := range ids {
		for _, channel := range []sessions.Channel{sessions.VoiceChannel, sessions.ChatChannel} {
			list := listKey(id, channel)
			sockets[list] = pipe.LRange(ctx, list, 0, -1)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("read the sockets of sessions: %w", err)
	}
	for list, numbers := range sockets {
		for _, number := range numbers.Val() {
			pipe.XTrimMaxLen(ctx, list+":"+number, 0)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("empty the frames of sessions: %w", err)
	}
	return nil
}
