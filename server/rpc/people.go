package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/people"
	"parlance.dev/parlance/workspaces"
)

type peopleServer struct {
	people     *people.Service
	workspaces *workspaces.Service
}

// NewPeople serves PeopleService.
func NewPeople(service *people.Service, tenants *workspaces.Service) parlancev1connect.PeopleServiceHandler {
	return &peopleServer{people: service, workspaces: tenants}
}

func (s *peopleServer) GetCaller(ctx context.Context, _ *parlancev1.GetCallerRequest) (*parlancev1.Caller, error) {
	p := workspaces.PrincipalFrom(ctx)
	tenant, err := s.workspaces.Tenant(ctx, p.TenantID)
	if err != nil {
		return nil, err
	}
	caller := &parlancev1.Caller{
		Kind: "api_key", Id: p.CallerID(), Name: p.KeyName, Scope: p.Scope.String(), Role: string(p.Role),
		TenantId: string(tenant.ID), TenantName: tenant.Name, WorkspaceId: string(p.WorkspaceID), Plan: tenant.Plan,
	}
	if p.PersonID == "" {
		return caller, nil
	}
	person, err := s.people.Get(ctx, p, p.PersonID)
	caller.Kind, caller.Name, caller.Email = "person", person.Name, person.Email
	return caller, err
}

func (s *peopleServer) ListPeople(ctx context.Context, req *parlancev1.ListPeopleRequest) (*parlancev1.ListPeopleResponse, error) {
	found, next, err := s.people.List(ctx, workspaces.PrincipalFrom(ctx), pageParams(req))
	return &parlancev1.ListPeopleResponse{People: each(found, personProto), NextPageToken: next}, err
}

func (s *peopleServer) GetPerson(ctx context.Context, req *parlancev1.GetPersonRequest) (*parlancev1.Person, error) {
	person, err := s.people.Get(ctx, workspaces.PrincipalFrom(ctx), people.ID(req.GetPersonId()))
	return personProto(person), err
}

func (s *peopleServer) UpdatePerson(ctx context.Context, req *parlancev1.UpdatePersonRequest) (*parlancev1.Person, error) {
	change := people.Change{Disabled: changed(req.GetUpdateMask(), "disabled", req.Disabled)}
	if role := changed(req.GetUpdateMask(), "assigned_role", req.AssignedRole); role != nil {
		change.AssignedRole = new(workspaces.Role(*role))
	}
	person, err := s.people.Update(ctx, workspaces.PrincipalFrom(ctx), people.ID(req.GetPersonId()), change)
	return personProto(person), err
}

func (s *peopleServer) DeletePerson(ctx context.Context, req *parlancev1.DeletePersonRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.people.Delete(ctx, workspaces.PrincipalFrom(ctx), people.ID(req.GetPersonId()))
}

func personProto(p people.Person) *parlancev1.Person {
	return &parlancev1.Person{
		Id: string(p.ID), Name: p.Name, Email: p.Email, Role: string(p.Role()), GroupRole: string(p.GroupRole),
		AssignedRole: string(p.AssignedRole), Disabled: p.Disabled, Groups: p.Groups, Issuer: p.Issuer, SignIns: int32(p.SignIns),
		CreatedAt: timestamp(p.CreatedAt), SignedInAt: timestamp(p.SignedInAt),
	}
}
