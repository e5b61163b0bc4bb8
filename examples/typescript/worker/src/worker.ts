// A receiver of webhooks. It keeps each event once, and answers when it is kept.
import { verify, WebhookError } from '@parlance/sdk/webhooks';

interface Env {
  /** The endpoint's secret, whsec_…; two with a space between while it is rotated. */
  readonly PARLANCE_WEBHOOK_SECRET: string;
  /** Where events are kept, by their ids. */
  readonly EVENTS: { put(key: string, value: string): Promise<void> };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== 'POST' || new URL(request.url).pathname !== '/webhooks') return new Response(null, { status: 404 });
    const body = await request.text(); // the raw body is what is signed
    try {
      const event = await verify(request.headers, body, env.PARLANCE_WEBHOOK_SECRET.split(' '));
      await env.EVENTS.put(event.eventId, body); // an event that comes twice is kept once
      return new Response(null, { status: 204 });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error; // 500: it comes again
      return new Response(error.message, { status: error.failure === 'secret-invalid' ? 500 : 400 });
    }
  },
};
