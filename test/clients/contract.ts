// A program with a client that openapi-typescript and openapi-fetch make of the OpenAPI document.
// It is not run: .ci/clients type-checks it, so what compiles here is what the document promises to
// callers in TypeScript.
import createClient from "openapi-fetch";
import type { components, paths } from "./contract.gen.js";

type Schemas = components["schemas"];

const api = createClient<paths>({ baseUrl: "http://localhost:8080", headers: { Authorization: "Bearer prl_…" } });

function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

// Objects of any shape: JSON Schemas, arguments, overrides, variables.
const workspace = { workspace_id: "ws_1" };
const tool = must(await api.POST("/v1/workspaces/{workspace_id}/tools", {
  params: { path: workspace, header: { "Idempotency-Key": "a-word-of-mine" } },
  body: {
    slug: "book_appointment", description: "Books an appointment.", kind: "http", webhook_url: "https://example.com/book",
    input_schema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
    hardcoded_body_params: { source: "phone", nested: { list: [1, 2, 3] } },
    headers: { "X-Team": "reception" },
  },
}));
const run = must(await api.POST("/v1/workspaces/{workspace_id}/tools/{tool_id}/run", {
  params: { path: { ...workspace, tool_id: tool.id } }, body: { args: { day: "2026-01-05", seats: 2 } },
}));
const output: unknown = run.output;
const session = must(await api.POST("/v1/sessions", {
  body: {
    agent_id: "agt_1", user_id: "customer-42", modality: "text", dynamic_variables: { first_name: "Ada" },
    overrides: { language: "de", model: { name: "gpt-5" } },
  },
}));

// What is always there is no "maybe"; what may be null is.
const expires: string = session.expires_at;
const one = must(await api.GET("/v1/sessions/{session_id}", { params: { path: { session_id: session.id } } }));
const made: string = one.created_at;
const ended: string | null = one.ended_at;
// @ts-expect-error it is null while the session is open
const wrong: string = one.ended_at;

// Closed sets: every value is handled, and no other one is.
function label(status: Schemas["Session"]["status"]): string {
  switch (status) {
    case "pending":
    case "in_progress":
      return "open";
    case "completed":
    case "failed":
      return "over";
  }
}

// The same route answers JSON or an event stream, and the types tell which.
const turns = { params: { path: { session_id: session.id } }, body: { text: "When are you open?" } };
const json = createClient<paths, "application/json">({ baseUrl: "http://localhost:8080" });
const turn = must(await json.POST("/v1/sessions/{session_id}/turns", turns));
const said: string = turn.text;
const either = must(await api.POST("/v1/sessions/{session_id}/turns", turns));
const text: string = typeof either === "string" ? either : either.text;
const streamed = await api.POST("/v1/sessions/{session_id}/turns", {
  ...turns, parseAs: "stream", headers: { Accept: "text/event-stream" },
});
const bytes: ReadableStream<Uint8Array> | null | undefined = streamed.data;
function show(event: Schemas["StreamTurnResponse"]): string {
  switch (event.type) {
    case "turn.delta":
      return event.delta;
    case "turn.done":
      return event.turn?.text ?? "";
    default:
      return "";
  }
}

// Events of the feed have data of any shape.
const feed = must(await json.GET("/v1/workspaces/{workspace_id}/events", { params: { path: workspace } }));
const failures: unknown = feed.events[0]?.data["consecutive_failures"];

console.log(output, expires, made, ended, wrong, label(one.status), said, text, bytes, show, failures);
