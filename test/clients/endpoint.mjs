// How to give the openai SDK a session's URL.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';

/** The SDK takes wss:// only, so a ws:// server gets its wss:// URL over a plain connection. */
function target(chatURL) {
  const url = new URL(chatURL);
  if (url.protocol === 'wss:') {
    return { url, options: process.env.CA_FILE ? { ca: readFileSync(process.env.CA_FILE) } : {} };
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 80);
  url.protocol = 'wss:';
  return { url, options: { createConnection: () => net.connect(port, host) } };
}

export function connect(chatURL) {
  const { url, options } = target(chatURL);
  // The service ignores the key, for the URL has the token, and the model, which the agent has.
  return new OpenAIRealtimeWS(
    { model: 'agent', buildRealtimeURL: () => url, options },
    new OpenAI({ apiKey: 'unused' }),
  );
}
