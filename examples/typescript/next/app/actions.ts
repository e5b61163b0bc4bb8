'use server';

import { Parlance } from '@parlance/sdk';
import type { SessionUrls } from '@parlance/sdk/session';

/** Creates a session for who is signed in. The API key stays on the server. */
export async function createSession(): Promise<SessionUrls> {
  const parlance = new Parlance(); // PARLANCE_BASE_URL and PARLANCE_API_KEY
  const agentId = process.env['PARLANCE_AGENT_ID'] ?? '';
  const userId = 'customer-42'; // of your sign-in
  const { chatUrl } = await parlance.sessions.createSession({ agentId, userId, modality: 'text' });
  return { chatUrl };
}
