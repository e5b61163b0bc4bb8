// How the openai SDK is pointed at a session's URL.
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
  // The key is not looked at: the token in the URL decides. Neither is the model: it is the agent's.
  return new OpenAIRealtimeWS({ model: 'agent', buildRealtimeURL: () => url, options }, new OpenAI({ apiKey: 'unused' }));
}
