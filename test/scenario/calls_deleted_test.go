package scenario

import (
	"sync"
	"testing"

	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/test/harness"
)

// TestDeletedCall: a call whose user is erased or whose workspace is deleted while the carrier
// places it, or while it rings, is hung up, also one on an account of the workspace's own.
func TestDeletedCall(t *testing.T) {
	t.Parallel()
	eraseUser := func(t *testing.T, w *callWorld) {
		t.Helper()
		w.Do(t, "POST", w.Tenant.In("/privacy/requests"), map[string]any{"user_id": "u", "kind": "erasure"}).Must(t, 201)
	}
	deleteWorkspace := func(t *testing.T, w *callWorld) {
		t.Helper()
		w.Do(t, "DELETE", w.Tenant.In(""), nil).Must(t, 204)
	}
	for name, test := range map[string]struct {
		erase                func(t *testing.T, w *callWorld)
		whileItIsPlaced, own bool
	}{
		"UserErasedPlacing":       {erase: eraseUser, whileItIsPlaced: true},
		"UserErasedRinging":       {erase: eraseUser},
		"WorkspaceDeletedPlacing": {erase: deleteWorkspace, whileItIsPlaced: true},
		"WorkspaceDeletedRinging": {erase: deleteWorkspace, own: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, board := harness.Switchboard(t)
			var w *callWorld
			placed := make(chan struct{})
			after := sync.OnceFunc(func() { // the carrier's answer waits
				if test.whileItIsPlaced {
					test.erase(t, w)
				}
				close(placed)
			})
			settings["PARLANCE_TWILIO_BASE_URL"] = carrierProxy(t, settings["PARLANCE_TWILIO_BASE_URL"], func() bool { return true }, after).URL
			account := map[string]string{
				"kind": "telephony", "provider": "twilio", "account_id": settings["PARLANCE_TWILIO_ACCOUNT_SID"],
				"api_key": settings["PARLANCE_TWILIO_AUTH_TOKEN"], "base_url": settings["PARLANCE_TWILIO_BASE_URL"],
			}
			if test.own {
				settings["PARLANCE_TWILIO_AUTH_TOKEN"] = "not-the-one-of-the-account"
			}
			w = newCallWorld(t, harness.Options{Settings: settings})
			if test.own {
				w.Do(t, "POST", w.Tenant.In("/provider-credentials"), account).Must(t, 201)
			}
			user := telephone(board, callee, nil) // it rings
			w.callNow(t, "u")
			<-placed
			if !test.whileItIsPlaced {
				harness.Await(t, harness.Patience, "the phone to ring", func() bool { return w.call(t, "u").Text("status") == "ringing" })
				test.erase(t, w)
			}
			harness.Await(t, harness.Patience, "the phone to stop", func() bool { return user.count(simulated.EventHungUp) == 1 })
			harness.Await(t, harness.Patience, "the call to be forgotten", func() bool {
				return len(harness.Rows[string](t, w.Env, "SELECT id FROM phone_calls")) == 0
			})
		})
	}
}
