package sessions

import (
	"strconv"
)

// key is what an item is known by: clients may take the id of one that was removed again.
func (i Item) Key() string {
	if i.Again == 0 {
		return i.ID
	}
	return i.ID + "\x00" + strconv.Itoa(i.Again)
}
