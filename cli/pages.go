package cli

import (
	"fmt"

	"parlance.dev/parlance/cli/term"
)

// eachOf shows what a list has, page by page, at most limit of it (0: all). list gives the page behind a token and
// the token of the next. It returns how many were shown, and whether there are more.
func eachOf[T any](limit int, list func(token string) ([]T, string, error), show func(T) error) (shown int, more bool, err error) {
	token := ""
	for {
		page, next, err := list(token)
		if err != nil {
			return shown, false, err
		}
		for _, one := range page {
			if limit > 0 && shown == limit {
				return shown, true, nil
			}
			if err := show(one); err != nil {
				return shown, false, err
			}
			shown++
		}
		if token = next; token == "" {
			return shown, false, nil
		}
	}
}

// sayMore says how to see more than the limit.
func sayMore(screen *term.Screen, limit int) {
	screen.Line("%s", screen.Dim(fmt.Sprintf("… there are more: --limit %d", limit*4)))
}
