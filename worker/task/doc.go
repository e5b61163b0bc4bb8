// Package task is the tasks of the worker, one file each: how a task is made, which noun it
// calls, and how work without a task is found (Sweeper). No rules are here.
package task
