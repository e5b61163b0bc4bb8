"""Takes a turn over gRPC, with the modules that protoc makes of the protos, as docs/clients.md shows."""

import os
from urllib.parse import urlsplit

import grpc
from parlance.v1 import sessions_pb2, sessions_pb2_grpc

sessions = sessions_pb2_grpc.SessionServiceStub(grpc.insecure_channel(urlsplit(os.environ["PARLANCE_BASE_URL"]).netloc))
metadata = [("authorization", "Bearer " + os.environ["PARLANCE_API_KEY"])]
create = sessions_pb2.CreateSessionRequest(agent_id=os.environ["PARLANCE_AGENT_ID"], user_id="ci", modality="text")
session = sessions.CreateSession(create, metadata=metadata, timeout=60)
request = sessions_pb2.StreamTurnRequest(session_id=session.id, text="Which file types can I upload?")
text = ""
for event in sessions.StreamTurn(request, metadata=metadata, timeout=60):
    kind = event.WhichOneof("event")
    if kind == "text_delta":
        text += event.text_delta.text
    last = kind
assert last == "done", f"the stream ended with {last}"
assert "PDF" in text, text
print(text)
