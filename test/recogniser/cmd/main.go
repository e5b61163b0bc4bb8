// Command cmd runs the recogniser of package recogniser until it is interrupted, as a transcriber
// for a Parlance on this machine:
//
//	go run ./test/recogniser/cmd -listen 127.0.0.1:8178 -sentences questions.txt
//	PARLANCE_STT_BASE_URL=http://127.0.0.1:8178/v1 parlance dev
//
// The file has a sentence a line, and lines of comment that begin with #. Without a file the
// recogniser has its general model. The URL is printed once it answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"parlance.dev/parlance/test/recogniser"
)

// stopTimeout is more than an utterance takes.
const stopTimeout = 10 * time.Second

func main() {
	listen := flag.String("listen", "127.0.0.1:8178", "address to listen on; port 0 takes a free one")
	file := flag.String("sentences", "", "file with the sentences that can be said, one a line")
	flag.Parse()
	if err := run(*listen, *file); err != nil {
		fmt.Fprintln(os.Stderr, "recogniser:", err)
		os.Exit(1)
	}
}

func run(listen, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sentences, err := readSentences(file)
	if err != nil {
		return err
	}
	r, err := recogniser.New(ctx, sentences...)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // what is left is in the system's folder for temporary files
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: stopTimeout}
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = server.Shutdown(within) // the process ends in any case
	})
	fmt.Printf("http://%s/v1\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped // what is being recognised is finished
	return nil
}

func readSentences(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var sentences []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			sentences = append(sentences, line)
		}
	}
	if sentences == nil {
		return nil, fmt.Errorf("there is no sentence in %s", file)
	}
	return sentences, nil
}
