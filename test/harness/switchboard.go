package harness

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"parlance.dev/parlance/provider/carrier/simulated"
)

// The numbers of the simulated carrier's account. Calls come from SwitchboardFrom; the others are
// for agents to answer. Who is called should have a number of +1 201 555 01xx, which are for
// fiction.
const (
	SwitchboardFrom  = "+15005550006"
	SwitchboardFirst = "+15005550101"
	SwitchboardOther = "+15005550102"
	SwitchboardThird = "+15005550103"
)

// Switchboard runs a simulated carrier until the test ends. Start an installation with its
// settings, and calls are placed there: a number rings the phone that the test registers for it.
func Switchboard(t testing.TB) (settings map[string]string, board *simulated.Switchboard) {
	t.Helper()
	const account, token = "AC00000000000000000000000000000001", "token-of-a-test-0123456789"
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	board = simulated.New(simulated.Options{
		AccountSID: account, AuthToken: token, Client: client, RequestTimeout: Patience,
		Numbers: []string{SwitchboardFrom, SwitchboardFirst, SwitchboardOther, SwitchboardThird},
	})
	server := httptest.NewServer(board)
	t.Cleanup(func() {
		board.Close()
		server.Close()
	})
	return map[string]string{
		"PARLANCE_TWILIO_ACCOUNT_SID": account, "PARLANCE_TWILIO_AUTH_TOKEN": token,
		"PARLANCE_TWILIO_BASE_URL": server.URL, "PARLANCE_TWILIO_FROM_NUMBER": SwitchboardFrom,
	}, board
}

// BusyPhone registers a phone that answers every call with the busy tone.
func BusyPhone(board *simulated.Switchboard, number string) {
	registered := make(chan struct{})
	var phone *simulated.Phone
	phone = board.Register(number, simulated.Listener{EventFunc: func(e simulated.Event) {
		if e.Kind == simulated.EventRing {
			<-registered
			phone.Busy()
		}
	}})
	close(registered)
}
