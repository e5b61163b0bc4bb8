package dev

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/server"
)

// The simulated line's account.
const (
	lineName    = "simulated"
	lineAccount = "AC00000000000000000000000000000000"
)

// lineNumbers are the numbers of the account: all those of a range that is kept for fiction. Calls
// come from the first.
func lineNumbers() []string {
	const size = 100
	numbers := make([]string, size)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("+120155501%02d", i)
	}
	return numbers
}

// openLine has calls made over a simulated line when no carrier is configured. `parlance call` is a
// telephone on it.
func (d *dev) openLine(ctx context.Context) (stop func(), err error) {
	if d.config.Twilio.AccountSID != "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the simulated line: %w", err)
	}
	roots, err := d.lineRoots()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	token, numbers := seal.Secret(rand.Text()), lineNumbers()
	d.line = simulated.New(simulated.Options{
		AccountSID: lineAccount, AuthToken: token, Numbers: numbers,
		Client: speech.SocketClient(new(net.Dialer).DialContext, roots),
	})
	d.config.Twilio = app.Twilio{
		Name: lineName, AccountSID: lineAccount, AuthToken: token, BaseURL: "http://" + listener.Addr().String(), FromNumber: numbers[0],
	}
	srv := &http.Server{Handler: d.line, ReadHeaderTimeout: headerTimeout}
	go func() { _ = srv.Serve(listener) }() // ends with Close
	return func() {
		_ = srv.Close() // nothing is kept: see connectNumbers
		d.line.Close()
	}, nil
}

// connectNumbers tells the simulated line of the numbers that agents answer: it has forgotten them.
func (d *dev) connectNumbers(ctx context.Context, opened *app.App) {
	if d.line == nil {
		return
	}
	if err := opened.Numbers.Reconfigure(ctx, lineName); err != nil {
		d.say("  ! Not all numbers of `%s numbers ls` are answered: %v", program(), err)
	}
}

// lineRoots are the authorities that the line trusts: with --tls also the local one.
func (d *dev) lineRoots() (*x509.CertPool, error) {
	if !d.options.tls {
		return nil, nil //nolint:nilnil // the system's
	}
	pem, err := os.ReadFile(d.tls.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the local authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return roots, nil
}

// phones serves the telephones of the simulated line; nil when there is none.
func (d *dev) phones() http.Handler {
	if d.line == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+server.LinePath+"{number}", d.line.ServePhone)
	return mux
}
