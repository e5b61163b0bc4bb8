// Package numbers is `parlance numbers`: the telephone numbers on which agents are called.
package numbers
