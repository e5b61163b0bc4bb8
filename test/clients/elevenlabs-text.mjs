// A text conversation with passages, a tool of the server and a tool of the client, with
// @elevenlabs/client, for which the session's URL is its signed URL. The client loses its
// connection and comes back, and the package must pass on what was missed and the errors of its
// initiation data. At the end the agent calls end_call. Every server event is checked by the
// package's own declarations.
//
//   CHAT_URL=… node elevenlabs-text.mjs
//
// The session's agent is the demo agent of `parlance dev` with the extractive responder and the
// client tool show_map in its tools_config. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import { elevenLabsEvents, watching } from './schemas.mjs';
import { mapOf, patience } from './talk.mjs';

const watch = watching({ '@elevenlabs/client': elevenLabsEvents() });
const events = [];
let connection;
let arrived = () => {},
  fail;
const failed = new Promise((_, reject) => {
  fail = reject;
});
failed.catch(() => {});

/** Node 20 has no WebSocket. This one also passes each event to the checks before the package. */
globalThis.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    connection = this;
    this.addEventListener('message', ({ data }) => {
      const event = JSON.parse(data);
      try {
        watch.take(event);
      } catch (error) {
        fail(error);
      }
      events.push(event);
      arrived();
    });
  }
};
const { Conversation } = await import('@elevenlabs/client');

/** The next event of a type that fits, of those that have arrived too. */
async function next(type, fits = () => true) {
  for (;;) {
    const at = events.findIndex((e) => e.type === type && fits(e));
    if (at >= 0) return events.splice(0, at + 1).at(-1);
    await new Promise((resolve) => {
      arrived = resolve;
    });
  }
}

const shown = [],
  said = [],
  problems = [];
let over;
const ended = new Promise((resolve) => {
  over = resolve;
});

const start = (options) =>
  Conversation.startSession({
    signedUrl: process.env.CHAT_URL,
    textOnly: true,
    clientTools: {
      show_map: ({ place }) => {
        shown.push(place);
        return mapOf(place);
      },
    },
    onMessage: ({ source, message }) => said.push(`${source}: ${message}`),
    onError: (message, context) => problems.push(`${message} ${JSON.stringify(context ?? '')}`),
    ...options,
  });

/**
 * Events behind the metadata reach the package, which starts to listen a moment after the metadata.
 */
async function comeBack() {
  let gone;
  const lost = new Promise((resolve) => {
    gone = resolve;
  });
  await start({ onDisconnect: () => gone() });
  const greeting = (await next('agent_response')).agent_response_event;
  connection.terminate();
  await lost;
  said.length = problems.length = 0;
  const url = `${process.env.CHAT_URL}&last_event_id=${greeting.event_id}`;
  const conversation = await start({ signedUrl: url, userId: 'somebody', onDisconnect: (details) => over(details) });
  await next('ping'); // comes after the held events
  assert.deepEqual(said, [`ai: ${greeting.agent_response}`]);
  assert.equal(problems.length, 1, `told of its user_id: ${JSON.stringify(problems)}`);
  assert.match(problems.pop(), /The user is the one the session was created for/);
  console.log('came back: what it missed, and what was wrong');
  return conversation;
}

async function talk() {
  const conversation = await comeBack();
  assert.match(conversation.getId(), /^ses_/);
  const ask = async (text) => {
    conversation.sendUserMessage(text);
    return (await next('agent_response')).agent_response_event;
  };
  const cited = await ask('How are webhooks signed?');
  assert.match(cited.agent_response, /HMAC-SHA256/);
  assert.ok(
    cited.parlance_citations?.some((c) => c.quoted && /HMAC-SHA256/.test(c.excerpt)),
    `no passage has it: ${JSON.stringify(cited)}`,
  );
  console.log(
    `passages: ${cited.parlance_citations.map((c) => `${c.source_name} ${c.similarity.toFixed(2)}`).join(', ')}`,
  );

  conversation.sendUserMessage('/tool order_status {"order_id": "A-1001"}');
  const called = await next('agent_tool_response');
  assert.equal(called.agent_tool_response.tool_name, 'order_status');
  assert.equal(called.agent_tool_response.is_error, false);
  const served = (await next('agent_response')).agent_response_event;
  assert.match(served.agent_response, /A-1001/);
  console.log(`server tool: order_status → ${served.agent_response.slice(0, 80)}`);

  conversation.sendUserMessage('/tool show_map {"place": "Bern"}');
  const wanted = await next('client_tool_call');
  assert.deepEqual(wanted.client_tool_call.parameters, { place: 'Bern' });
  const mapped = (await next('agent_response', (e) => e.agent_response_event.agent_response)).agent_response_event;
  assert.deepEqual(shown, ['Bern']);
  assert.match(mapped.agent_response, /map of Bern shown/);
  console.log(`client tool: show_map → ${mapped.agent_response}`);

  assert.ok(
    said.some((m) => m.startsWith('ai: ') && m.includes('HMAC-SHA256')),
    `what the package passed on: ${said.join('\n')}`,
  );
  conversation.sendUserMessage('/tool end_call {"reason": "done"}');
  const details = await ended;
  assert.equal(details.reason, 'agent', `it was ended otherwise: ${JSON.stringify(details)}`);
  assert.deepEqual(problems, []);
}

await patience(Promise.race([failed, talk()]));
console.log(`elevenlabs: ${watch.end()}`);
process.exit(0); // the package has timers that never end
