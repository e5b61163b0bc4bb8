// Uses the SDK where there is no Node: run(settings) resolves with what it saw.
import { all, Parlance, webhooks } from '@parlance/sdk';

globalThis.run = async ({ baseUrl, apiKey, workspaceId, agentId, withSession }) => {
  if (typeof process !== 'undefined') throw new Error('this is Node');
  const parlance = new Parlance({ baseUrl, apiKey });
  const seen = { agents: [], text: '', progress: [], spoken: '' };
  for await (const { id } of all(parlance.agents.listAgents, { workspaceId, pageSize: 1 })) seen.agents.push(id);

  const { id: sessionId } = await parlance.sessions.createSession({ agentId, userId: 'packed', modality: 'text' });
  for await (const { event } of parlance.sessions.streamTurn({ sessionId, text: 'How are webhooks signed?' }))
    if (event.case === 'textDelta') seen.text += event.value.text;

  const file = new File([`# ${Math.random()}\n\n`, 'Words.\n'.repeat(300_000)], 'words.md');
  const onProgress = (...numbers) => seen.progress.push(numbers);
  const source = await parlance.knowledge.upload({ workspaceId, file }, { onProgress });
  seen.size = file.size;
  const stream = new Blob(['# Another']).stream();
  await parlance.knowledge.replaceContent({ workspaceId, sourceId: source.id, file: stream, filename: 'words.md' });
  await parlance.knowledge.deleteSource({ workspaceId, sourceId: source.id });
  const large = new File(['MZ', 'x'.repeat(30 << 20)], 'program.exe');
  seen.refused = await parlance.knowledge.upload({ workspaceId, file: large }).catch((error) => `${error.status} ${error.reason}`);
  seen.missing = await parlance.agents.getAgent({ workspaceId, agentId: 'agt_1' }).catch((error) => `${error.status} ${error.reason}`);
  seen.nowhere = await new Parlance({ baseUrl: 'http://127.0.0.1:1', apiKey, retries: { firstMs: 1 } }).agents
    .listAgents({ workspaceId })
    .catch((error) => error.reason);

  const seconds = String(Math.floor(Date.now() / 1000));
  const headers = new Headers({ 'webhook-id': 'evt_1', 'webhook-timestamp': seconds, 'webhook-signature': 'v1,AAAA' });
  seen.webhook = await webhooks.verify(headers, '{}', 'whsec_AAAA').catch((error) => error.failure);

  if (withSession) {
    const session = await parlance.sessions.connect({ agentId, userId: 'packed', modality: 'text' });
    seen.spoken = (await session.send('How are webhooks signed?').done).text;
    session.hangUp();
    session.close();
  }
  return seen;
};
