// The conversation of each client: passages, a tool of the server, a tool of the client.
import assert from 'node:assert/strict';

/** The client's tool, declared as a function tool. */
export const showMap = {
  type: 'function',
  name: 'show_map',
  description: 'Shows the user a map of a place.',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
    additionalProperties: false,
  },
};

/** What the client's tool answers. */
export const mapOf = (place) => `map of ${place} shown at 46.9 N`;

/** Fails when the conversation takes longer than any that works. */
export function patience(promise, ms = 180_000) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late])
    .finally(() => clearTimeout(timer))
    .catch((error) => {
      console.error(error.message);
      process.exit(1);
    });
}

/** Checks the parts of a conversation as a client that sees items and citations has them. */
export async function talk({ begin, ask, result, item, refused }) {
  await begin();

  const cited = await ask('How are webhooks signed?');
  assert.match(cited.text, /HMAC-SHA256/);
  assert.ok(cited.citations.length > 0, 'there are no passages');
  assert.ok(
    cited.citations.some((c) => c.quoted && /HMAC-SHA256/.test(c.excerpt) && c.similarity > 0 && c.source_name),
    `no passage has it: ${JSON.stringify(cited.citations)}`,
  );
  console.log(`passages: ${cited.citations.map((c) => `${c.source_name} ${c.similarity.toFixed(2)}`).join(', ')}`);

  const served = await ask('/tool order_status {"order_id": "A-1001"}');
  const call = served.items.find((i) => i.type === 'mcp_call');
  assert.equal(call?.name, 'order_status', `no call among ${JSON.stringify(served.items)}`);
  assert.equal(JSON.parse(call.arguments).order_id, 'A-1001');
  assert.match(call.output, /A-1001/);
  assert.match(served.text, /A-1001/);
  console.log(`server tool: ${call.name} → ${call.output.slice(0, 80)}`);

  const wanted = await ask('/tool show_map {"place": "Bern"}');
  const mine = wanted.items.find((i) => i.type === 'function_call');
  assert.equal(mine?.name, 'show_map', `no call among ${JSON.stringify(wanted.items)}`);
  assert.equal(JSON.parse(mine.arguments).place, 'Bern');
  const answered = await result(mine, mapOf('Bern'));
  assert.match(answered.text, /map of Bern shown/);
  console.log(`client tool: ${mine.name} → ${answered.text}`);

  assert.equal((await item(mine.id)).name, 'show_map');
  assert.equal(await refused(), 'response_cancel_not_active');
}
