// A back end: it creates a session for the page, so that the API key stays here, and receives the
// webhook that reports what was said.
import { fileURLToPath } from 'node:url';
import { isReason, Parlance, webhooks } from '@parlance/sdk';
import express from 'express';

const { PARLANCE_AGENT_ID: agentId = '', PARLANCE_WEBHOOK_SECRET: secrets = '', PORT = '3000' } = process.env;
const parlance = new Parlance(); // PARLANCE_BASE_URL and PARLANCE_API_KEY
const app = express();

app.use(express.static(fileURLToPath(new URL('../public', import.meta.url))));
// The session client has no dependencies: the page loads its modules as they are.
app.use('/sdk', express.static(fileURLToPath(new URL('.', import.meta.resolve('@parlance/sdk')))));

app.post('/api/session', async (_request, response) => {
  const userId = 'customer-42'; // of your sign-in
  try {
    const { chatUrl, wsUrl } = await parlance.sessions.createSession({ agentId, userId, modality: 'text' });
    response.json({ chatUrl, wsUrl });
  } catch (error) {
    const isBusy = isReason(error, 'quota-exceeded-sessions', 'fatigue-window-used-up', 'unavailable');
    console.error('no session:', error);
    response.status(isBusy ? 503 : 500).json({ message: isBusy ? 'All of us are busy. Try again later.' : 'That went wrong.' });
  }
});

/** The events that were received. A real receiver keeps them in its database. */
const received = new Set<string>();

// The raw body is what is signed, so nothing may parse it before.
app.post('/webhooks', express.raw({ type: 'application/json', limit: '1mb' }), async (request, response) => {
  let event: webhooks.Event;
  try {
    // Two secrets, with a space between, while one is rotated.
    event = await webhooks.verify(request.headers, request.body as Buffer, secrets.split(' '));
  } catch (error) {
    if (!(error instanceof webhooks.WebhookError)) throw error;
    console.error('refused:', error.failure);
    response.status(error.failure === 'secret-invalid' ? 500 : 400).send(error.message);
    return;
  }
  if (!received.has(event.eventId)) {
    received.add(event.eventId); // an event can come twice
    if (event.payload.case === 'postCallTranscription') {
      const { conversationId, transcript } = event.payload.value;
      console.log(`${conversationId} is over: ${transcript.map(({ role, message }) => `${role}: ${message}`).join(' | ')}`);
    }
  }
  response.sendStatus(204);
});

const server = app.listen(Number(PORT), () => console.log(`http://localhost:${PORT}`, server.address()));
