// Is compiled, not run: the types that users see.
import { all, isReason, Parlance, ParlanceError, type Reason, webhooks } from '@parlance/sdk';
import type { Agent } from '@parlance/sdk/messages/agents';
import { connect, type Session } from '@parlance/sdk/session';
import { verify, type Event } from '@parlance/sdk/webhooks';

export async function use(parlance: Parlance, request: Request, secrets: string[]): Promise<void> {
  const agent: Agent = await parlance.agents.createAgent({ workspaceId: 'ws_1', name: 'Ada' });
  for await (const { name, version } of all(parlance.agents.listAgents, { workspaceId: 'ws_1' })) console.log(name, version);
  for await (const { event } of parlance.sessions.streamTurn({ sessionId: 'ses_1', text: 'Hello.' }))
    if (event.case === 'done') console.log(event.value.turn?.text satisfies string | undefined);
  const session: Session = await parlance.sessions.connect({ agentId: agent.id, userId: 'u' });
  session.on('answer.delta', ({ delta }) => console.log(delta satisfies string));
  connect({ chatUrl: 'wss://example.org' }).close();
  try {
    const file = new File(['# Hello'], 'hello.md');
    await parlance.knowledge.upload({ workspaceId: 'ws_1', file }, { onProgress: (sent, total) => console.log(sent / (total ?? 1)) });
  } catch (error) {
    if (isReason(error, 'kb-unsupported-media-type')) console.log(error.reason satisfies Reason);
    else if (error instanceof ParlanceError) console.log(error.fields[0]?.field);
    // @ts-expect-error: there is no such reason
    isReason(error, 'no-such-reason');
  }
  const event: Event = await verify(request.headers, await request.text(), secrets);
  if (event.payload.case === 'postCallTranscription') console.log(event.payload.value.transcript[0]?.message);
  const same: typeof verify = webhooks.verify;
  void same;
}
