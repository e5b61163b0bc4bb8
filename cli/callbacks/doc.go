// Package callbacks is `parlance callbacks`, `parlance schedules` and `parlance batches`: calls to
// users that are planned for later, once, by a schedule or to many numbers.
package callbacks
