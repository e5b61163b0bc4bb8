// The same conversation with @openai/agents-realtime: a RealtimeSession with a tool that runs here,
// which gets nothing but the session's URL. Every server event is checked by that package's schemas
// and by openai's declarations.
//
//   CHAT_URL=… node agents-tools.mjs
//
// The session's agent is the demo agent of `parlance dev` with the extractive responder. Exits with
// 1 when a check fails.
import assert from 'node:assert/strict';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { z } from 'zod';
import { agentsEvents, openaiEvents, watching } from './schemas.mjs';
import { mapOf, patience } from './talk.mjs';

const watch = watching({ '@openai/agents-realtime': await agentsEvents(), 'openai': openaiEvents() });
const url = process.env.CHAT_URL;
const shown = [];
const agent = new RealtimeAgent({
  name: 'Ada',
  instructions: 'Left out: the agent’s own are kept unless it allows others.',
  tools: [
    tool({
      name: 'show_map',
      description: 'Shows the user a map of a place.',
      parameters: z.object({ place: z.string() }),
      execute: async ({ place }) => {
        shown.push(place);
        return mapOf(place);
      },
    }),
  ],
});
const session = new RealtimeSession(agent, {
  transport: new OpenAIRealtimeWebSocket({ url }),
  config: { outputModalities: ['text'] },
});

const events = [],
  types = [];
let arrived = () => {};
const failed = new Promise((_, reject) => {
  session.on('error', ({ error }) =>
    reject(new Error(`the session has an error: ${JSON.stringify(error?.error ?? error?.message ?? error)}`)),
  );
  process.once('uncaughtException', reject); // the package throws for an unexpected event
  session.transport.on('*', (event) => {
    try {
      watch.take(event);
    } catch (error) {
      reject(error);
    }
    events.push(event);
    types.push(event.type);
    arrived();
  });
});
failed.catch(() => {});
async function next(type, fits = () => true) {
  for (;;) {
    const at = events.findIndex((e) => e.type === type && fits(e));
    if (at >= 0) return events.splice(0, at + 1).at(-1);
    await new Promise((resolve) => {
      arrived = resolve;
    });
  }
}

const words = (response) =>
  response.output
    .flatMap((item) => item.content ?? [])
    .map((part) => part.text ?? '')
    .join('');

/** Sends a message and returns the next response with a message. */
async function ask(text) {
  session.sendMessage(text);
  for (;;) {
    const { response } = await next('response.done');
    assert.equal(response.status, 'completed', JSON.stringify(response.status_details));
    if (words(response)) return response;
  }
}

async function talk() {
  await session.connect({ apiKey: 'unused', url });
  await next('response.done'); // the greeting

  const cited = await ask('How are webhooks signed?');
  assert.match(words(cited), /HMAC-SHA256/);
  const citations = JSON.parse(cited.metadata.parlance_citations);
  assert.ok(
    citations.some((c) => c.quoted && /HMAC-SHA256/.test(c.excerpt)),
    `no passage has it: ${JSON.stringify(citations)}`,
  );
  console.log(`passages: ${citations.map((c) => `${c.source_name} ${c.similarity.toFixed(2)}`).join(', ')}`);

  const served = await ask('/tool order_status {"order_id": "A-1001"}');
  assert.match(words(served), /A-1001/);
  const call = session.history.find((item) => item.type === 'mcp_call' || item.type === 'mcp_tool_call');
  assert.equal(call?.name, 'order_status', `no call in the history: ${JSON.stringify(session.history)}`);
  assert.match(call.output, /A-1001/);
  console.log(`server tool: ${call.name} → ${call.output.slice(0, 80)}`);

  const mapped = await ask('/tool show_map {"place": "Bern"}'); // the package runs the tool and sends response.create
  assert.deepEqual(shown, ['Bern']);
  assert.match(words(mapped), /map of Bern shown/);
  const ran = session.history.find((item) => item.type === 'function_call');
  assert.equal(ran?.name, 'show_map');
  assert.match(ran.output, /map of Bern shown/);
  console.log(`client tool: ${ran.name} → ${words(mapped)}`);

  // The package deletes the item and creates one with the same id right behind.
  const asked = 'How are webhooks signed?',
    changed = 'How are webhooks signed here?';
  session.updateHistory((history) =>
    history.map((item) =>
      item.role === 'user' && item.content[0].text === asked
        ? { ...item, content: [{ type: 'input_text', text: changed }] }
        : item,
    ),
  );
  await next('conversation.item.deleted');
  const again = await next('conversation.item.done');
  assert.equal(again.item.content[0].text, changed);
  await ask('And of webhooks that are sent again?');

  const said = session.history
    .filter((item) => item.type === 'message')
    .map((item) => [item.role, item.content.map((c) => c.text).join('')]);
  assert.deepEqual(
    said.map(([role]) => role),
    ['assistant', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    `the history is ${JSON.stringify(said)}`,
  );
  assert.equal(said[1][1], changed);
  // The greeting, four messages, and the tool's result; the package sent no other response.create.
  assert.equal(types.filter((type) => type === 'response.created').length, 6, `responses: ${types}`);
  assert.equal(types.includes('conversation.item.retrieved'), false, 'the package had to ask for an item');
}

await patience(Promise.race([failed, talk()]));
console.log(`agents: ${watch.end()}`);
session.close();
