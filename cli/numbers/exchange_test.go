package numbers_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// exchange is TelephonyService as far as the commands call it, in memory. It has one number a page.
type exchange struct {
	parlancev1connect.UnimplementedTelephonyServiceHandler

	mu      sync.Mutex
	secrets int
	numbers []*parlancev1.PhoneNumber
	// manual: the carrier cannot be told of numbers.
	manual bool
}

// before serves TelephonyService in front of a service that has the others.
func (e *exchange) before(service http.Handler) http.Handler {
	path, handler := parlancev1connect.NewTelephonyServiceHandler(e)
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	mux.Handle("/", service)
	return mux
}

// minted is a copy of a number with a new secret.
func (e *exchange) minted(one *parlancev1.PhoneNumber) *parlancev1.PhoneNumber {
	e.secrets++
	secret := "whsec_secret" + strconv.Itoa(1000+e.secrets)
	one.LookupSecretHint = secret[len(secret)-4:]
	shown, _ := proto.Clone(one).(*parlancev1.PhoneNumber) // a clone of one
	shown.LookupSecret = secret
	return shown
}

// find returns the place of a number.
func (e *exchange) find(id string) (int, error) {
	at := slices.IndexFunc(e.numbers, func(one *parlancev1.PhoneNumber) bool { return one.GetId() == id })
	if at < 0 {
		return 0, connect.NewError(connect.CodeNotFound, errors.New("No phone number with the id."))
	}
	return at, nil
}

func (e *exchange) CreatePhoneNumber(_ context.Context, req *parlancev1.CreatePhoneNumberRequest) (*parlancev1.PhoneNumber, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	number := strings.ReplaceAll(req.GetPhoneNumber(), " ", "")
	if slices.ContainsFunc(e.numbers, func(one *parlancev1.PhoneNumber) bool { return one.GetPhoneNumber() == number }) {
		return nil, connect.NewError(connect.CodeAlreadyExists, errors.New("A workspace of this tenant has the number already."))
	}
	one := &parlancev1.PhoneNumber{
		Id: "num_" + strconv.Itoa(len(e.numbers)+1), WorkspaceId: req.GetWorkspaceId(), PhoneNumber: number, AgentId: req.GetAgentId(),
		Name: req.GetName(), Enabled: req.GetEnabled(), LookupUrl: req.GetLookupUrl(), DynamicVariables: req.GetDynamicVariables(),
		Configured: !e.manual, ConfigureUrl: "https://parlance.example/" + number, CreatedAt: timestamppb.Now(),
	}
	e.numbers = slices.Insert(e.numbers, 0, one)
	return e.minted(one), nil
}

func (e *exchange) ListPhoneNumbers(
	_ context.Context, req *parlancev1.ListPhoneNumbersRequest,
) (*parlancev1.ListPhoneNumbersResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, _ := strconv.Atoi(req.GetPageToken()) // no token is the first page
	if at >= len(e.numbers) {
		return &parlancev1.ListPhoneNumbersResponse{}, nil
	}
	page := &parlancev1.ListPhoneNumbersResponse{PhoneNumbers: []*parlancev1.PhoneNumber{e.numbers[at]}}
	if at+1 < len(e.numbers) {
		page.NextPageToken = strconv.Itoa(at + 1)
	}
	return page, nil
}

func (e *exchange) GetPhoneNumber(_ context.Context, req *parlancev1.GetPhoneNumberRequest) (*parlancev1.PhoneNumber, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, err := e.find(req.GetNumberId())
	if err != nil {
		return nil, err
	}
	return e.numbers[at], nil
}

func (e *exchange) UpdatePhoneNumber(_ context.Context, req *parlancev1.UpdatePhoneNumberRequest) (*parlancev1.PhoneNumber, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, err := e.find(req.GetNumberId())
	if err != nil {
		return nil, err
	}
	one := e.numbers[at]
	for _, field := range req.GetUpdateMask().GetPaths() {
		switch field {
		case "agent_id":
			one.AgentId = req.GetAgentId()
		case "name":
			one.Name = req.GetName()
		case "lookup_url":
			one.LookupUrl = req.GetLookupUrl()
		case "dynamic_variables":
			one.DynamicVariables = req.GetDynamicVariables()
		case "enabled":
			one.Enabled = req.GetEnabled()
		default:
			return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("There is no field "+field+"."))
		}
	}
	return one, nil
}

func (e *exchange) DeletePhoneNumber(_ context.Context, req *parlancev1.DeletePhoneNumberRequest) (*emptypb.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, err := e.find(req.GetNumberId())
	if err != nil {
		return nil, err
	}
	e.numbers = slices.Delete(e.numbers, at, at+1)
	return &emptypb.Empty{}, nil
}

func (e *exchange) RotatePhoneNumberSecret(
	_ context.Context, req *parlancev1.RotatePhoneNumberSecretRequest,
) (*parlancev1.PhoneNumber, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, err := e.find(req.GetNumberId())
	if err != nil {
		return nil, err
	}
	return e.minted(e.numbers[at]), nil
}
