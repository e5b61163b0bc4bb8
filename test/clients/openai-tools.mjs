// A conversation with passages, a tool of the server and a tool of the client, with the openai SDK
// over ws. Every server event is checked by the declarations of that SDK and by the schemas of
// @openai/agents-realtime.
//
//   CHAT_URL=… node openai-tools.mjs
//
// The session's agent is the demo agent of `parlance dev` with the extractive responder, which
// calls a tool for a message `/tool <name> {…}`. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { connect } from './endpoint.mjs';
import { agentsEvents, openaiEvents, watching } from './schemas.mjs';
import { patience, showMap, talk } from './talk.mjs';

const watch = watching({ 'openai': openaiEvents(), '@openai/agents-realtime': await agentsEvents() });
const socket = connect(process.env.CHAT_URL);
const done = [];
let arrived = () => {};
const failed = new Promise((_, reject) => {
  socket.on('error', (error) => error.error || reject(error)); // error events of the server are checked elsewhere
  socket.socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
  socket.on('event', (event) => {
    try {
      watch.take(event);
    } catch (error) {
      reject(error);
    }
    done.push(event);
    arrived();
  });
});
failed.catch(() => {});

/** The next event of a type that fits, of those that have arrived too. */
async function next(type, fits = () => true) {
  for (;;) {
    const at = done.findIndex((e) => e.type === type && fits(e));
    if (at >= 0) return done.splice(0, at + 1).at(-1);
    await new Promise((resolve) => {
      arrived = resolve;
    });
  }
}

const answerTo = async (item, metadata) => {
  socket.send({ type: 'conversation.item.create', item });
  socket.send({ type: 'response.create', response: { metadata } });
  return (await next('response.done', (e) => e.response.metadata?.turn === metadata.turn)).response;
};
const say = (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

await patience(
  Promise.race([
    failed,
    talk({
      async begin() {
        await new Promise((resolve) => socket.socket.once('open', resolve));
        await next('session.created');
        socket.send({ type: 'session.update', session: { type: 'realtime', tools: [showMap] } });
        const { session } = await next('session.updated');
        assert.deepEqual(
          session.tools.map((t) => t.name),
          ['show_map'],
        );
      },
      async ask(text) {
        const response = await answerTo(say(text), { turn: text.slice(0, 40) });
        assert.equal(response.status, 'completed', JSON.stringify(response.status_details));
        const citations = JSON.parse(response.metadata.parlance_citations ?? '[]');
        return {
          text: response.output
            .flatMap((item) => item.content ?? [])
            .map((part) => part.text ?? '')
            .join(''),
          citations,
          items: response.output,
        };
      },
      async result(call, output) {
        const response = await answerTo(
          { type: 'function_call_output', call_id: call.call_id, output },
          { turn: call.call_id },
        );
        assert.equal(response.status, 'completed');
        return {
          text: response.output
            .flatMap((item) => item.content ?? [])
            .map((part) => part.text ?? '')
            .join(''),
        };
      },
      async item(id) {
        socket.send({ type: 'conversation.item.retrieve', item_id: id });
        return (await next('conversation.item.retrieved')).item;
      },
      async refused() {
        socket.send({ type: 'response.cancel' });
        return (await next('error')).error.code;
      },
    }),
  ]),
);
console.log(`openai: ${watch.end()}`);
socket.close();
