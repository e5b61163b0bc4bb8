package route

import "google.golang.org/protobuf/proto"

// Route is one REST route and the Connect procedure that answers it.
type Route struct {
	// Method is the HTTP verb; a GET route answers HEAD too.
	Method string
	// Pattern is the path; a {name} segment binds the request field of that name.
	Pattern string
	// Procedure is the path of the Connect method: "/parlance.v1.ToolService/CreateTool".
	Procedure string
	// Request and Response are typed nil pointers that stand for the messages.
	Request, Response proto.Message
	// Body is "*" when the JSON body holds the request's fields, the name of one message field
	// when it holds that, and empty when the fields come from the query string.
	Body string
	// Status of a success; 204 sends no body.
	Status int
	// Location is the template of the header of that name, "" for none.
	Location string
	// MaxBodyBytes is the hard limit of the body, 0 for 1 MiB; over it the answer is 413.
	MaxBodyBytes int64
	// ServerStream says that Procedure streams: its messages go out as Server-Sent Events.
	ServerStream bool
	// EventProcedure, when set, answers the route in place of Procedure, with Server-Sent
	// Events, if the caller asks for text/event-stream. It has messages of its own.
	EventProcedure              string
	EventRequest, EventResponse proto.Message
	// Manual says that a hand-written handler serves the route, given by its Procedure.
	Manual bool
}
