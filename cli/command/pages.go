package command

// PageFunc returns the page that a token names and the token of the page after it. "" names the
// first page, and says that there is no page after the last.
type PageFunc[T any] func(token string) (page []T, next string, err error)

// Each calls visit for each item of a list, for at most limit of them (0: all). It returns how many
// were visited and whether there are more.
func Each[T any](limit int, list PageFunc[T], visit func(T) error) (visited int, more bool, err error) {
	for token := ""; ; {
		page, next, err := list(token)
		if err != nil {
			return visited, false, err
		}
		for _, item := range page {
			if limit > 0 && visited == limit {
				return visited, true, nil
			}
			if err := visit(item); err != nil {
				return visited, false, err
			}
			visited++
		}
		if token = next; token == "" {
			return visited, false, nil
		}
	}
}

// All returns the items of a list.
func All[T any](list PageFunc[T]) ([]T, error) {
	var all []T
	_, _, err := Each(0, list, func(item T) error {
		all = append(all, item)
		return nil
	})
	return all, err
}
