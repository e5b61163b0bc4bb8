package sessions

import (
	"time"
)

func Milliseconds(d time.Duration) int { return int(max(0, d.Milliseconds())) }
