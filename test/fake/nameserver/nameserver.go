// Package nameserver is a DNS server on loopback whose names change their addresses, as those of an
// attacker do who has a name checked and another address dialled.
package nameserver

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Server is a small DNS server. Each name has a list of answers: a lookup takes the
// first and leaves it for the next only when it is the last.
type Server struct {
	conn net.PacketConn

	mu    sync.Mutex
	names map[string][][]netip.Addr
	// aliases are CNAME records.
	aliases map[string]string
}

// New starts a server that ends with the test. Names end with a dot.
func New(t testing.TB, names map[string][][]netip.Addr) *Server {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{conn: conn, names: names}
	var wait sync.WaitGroup
	wait.Go(s.serve)
	t.Cleanup(func() { conn.Close(); wait.Wait() })
	return s
}

// Alias makes name a CNAME of target.
func (s *Server) Alias(name, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aliases == nil {
		s.aliases = map[string]string{}
	}
	s.aliases[name] = target
}

// Move gives name other addresses.
func (s *Server) Move(name string, addrs ...netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = [][]netip.Addr{addrs}
}

// Resolver asks this server and nobody else.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *Server) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var message dnsmessage.Message
		if message.Unpack(buf[:n]) != nil || len(message.Questions) == 0 {
			continue
		}
		s.answer(&message)
		if packed, err := message.Pack(); err == nil {
			s.conn.WriteTo(packed, from)
		}
	}
}

func (s *Server) answer(m *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Response, m.Additionals = true, nil
	question := m.Questions[0]
	name := question.Name.String()
	if target, ok := s.aliases[name]; ok {
		canonical := dnsmessage.MustNewName(target)
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.CNAMEResource{CNAME: canonical},
		})
		name, question.Name = target, canonical
	}
	answers, ok := s.names[name]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
		return
	}
	for _, addr := range answers[0] {
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
		switch {
		case addr.Is4() && question.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	// A and AAAA are asked at once; the A question moves on.
	if question.Type == dnsmessage.TypeA && len(answers) > 1 {
		s.names[name] = answers[1:]
	}
}
