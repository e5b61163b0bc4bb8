/** What a provider can be for, with those that can be chosen. */
export const kinds = [
  {
    id: 'model',
    text: 'Models',
    providers: [
      { id: 'openai', text: 'OpenAI', note: 'or any server with its API: set the base URL' },
      { id: 'anthropic', text: 'Anthropic' },
      { id: 'azure', text: 'Azure OpenAI', note: 'needs the base URL: the endpoint of your resource' },
    ],
  },
  {
    id: 'stt',
    text: 'Understanding speech',
    providers: [
      { id: 'openai', text: 'OpenAI', note: 'or any server with its API' },
      { id: 'deepgram', text: 'Deepgram' },
      { id: 'openai-realtime', text: 'OpenAI Realtime' },
    ],
  },
  {
    id: 'tts',
    text: 'Speaking',
    providers: [
      { id: 'openai', text: 'OpenAI', note: 'or any server with its API' },
      { id: 'elevenlabs', text: 'ElevenLabs' },
    ],
  },
  { id: 'telephony', text: 'Telephone', providers: [{ id: 'twilio', text: 'Twilio' }] },
];
