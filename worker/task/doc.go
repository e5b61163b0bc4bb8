// Package task has the tasks of the worker, one file each: how a task is made, which noun it
// calls, and how due work without a task is found (Finder). It has no rules.
package task
