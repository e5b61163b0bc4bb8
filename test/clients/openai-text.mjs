// A text conversation over a session's chat_url with the openai SDK, which gets nothing but the
// URL.
//
//   CHAT_URL='ws://localhost:8080/v1/realtime/chat/ses_…?token=…' \
//       node openai-text.mjs 'Hello' 'And then?'
//
// CHAT_URL  chat_url (or ws_url) of a session that was just created; ws:// or wss://
// CA_FILE   PEM file of the authority to trust for wss://, when it is a private one
// EXPECT    regular expression that the last answer must match
//
// Each argument is one message. Exits with 1 when anything fails.
import { connect } from './endpoint.mjs';

const patienceMS = 60_000;

/** Resolves with the first fitting event of a type. */
function event(socket, type, fits = () => true) {
  return new Promise((resolve) => {
    const look = (e) => {
      if (!fits(e)) return;
      socket.off(type, look);
      resolve(e);
    };
    socket.on(type, look);
  });
}

const words = (response) =>
  response.output
    .flatMap((item) => item.content ?? [])
    .map((part) => part.text ?? '')
    .join('');

async function converse(socket, messages) {
  await new Promise((resolve) => socket.socket.once('open', resolve)); // the SDK drops what is sent earlier
  // Does not wait: messages may be sent before session.created was read, and during the greeting.
  event(socket, 'session.created').then((e) => console.log(`session: ${e.session.id}`));
  let last = '';
  for (const [index, text] of messages.entries()) {
    const turn = String(index);
    const answered = event(socket, 'response.done', (e) => e.response.metadata?.turn === turn);
    console.log(`user: ${text}`);
    socket.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    socket.send({ type: 'response.create', response: { metadata: { turn } } });
    const { response } = await answered;
    if (response.status !== 'completed')
      throw new Error(`response ${response.status}: ${JSON.stringify(response.status_details)}`);
    last = words(response);
    for (const cited of JSON.parse(response.metadata.parlance_citations ?? '[]'))
      console.log(`cited: ${cited.source_name}`);
  }
  return last;
}

async function main() {
  const messages = process.argv.slice(2);
  if (!process.env.CHAT_URL || messages.length === 0)
    throw new Error("usage: CHAT_URL=… node openai-text.mjs 'message' …");
  const socket = connect(process.env.CHAT_URL);
  let deltas = '';
  socket.on('response.output_text.delta', (e) => (deltas += e.delta));
  socket.on('response.output_text.done', (e) => {
    console.log(`agent: ${e.text}`);
    if (deltas !== e.text) throw new Error(`the deltas make ${JSON.stringify(deltas)}`);
    deltas = '';
  });
  socket.on('response.output_item.done', ({ item }) => {
    if (item.type === 'mcp_call')
      console.log(`tool: ${item.name} ${item.arguments} → ${item.output ?? item.error?.message}`);
  });
  let timer;
  const failed = new Promise((_, reject) => {
    socket.on('error', reject);
    socket.socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMS} ms`)), patienceMS);
  });
  const last = await Promise.race([converse(socket, messages), failed]).finally(() => clearTimeout(timer));
  failed.catch(() => {}); // from here on it is only our own close
  socket.close();
  if (process.env.EXPECT && !new RegExp(process.env.EXPECT).test(last))
    throw new Error(`the last answer does not match ${process.env.EXPECT}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
