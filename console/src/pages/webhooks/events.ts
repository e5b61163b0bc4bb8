/** The events, and when each fires. Source: docs/webhooks.md */
export const events: { id: string; when: string }[] = [
  { id: 'post_call_transcription', when: 'A conversation is over: its transcript, analysis and usage.' },
  { id: 'escalation.triggered', when: 'A no-go zone of an agent stopped a turn.' },
  { id: 'fatigue.alert', when: 'A user has talked for as long as an agent allows.' },
  { id: 'kb.source_ingested', when: 'A document of the knowledge base is ready.' },
  { id: 'dsar.ready', when: "The export of a user's data can be downloaded." },
  { id: 'turn.persistence_failed', when: 'A turn could not be written to the database at once.' },
  { id: 'webhook.disabled', when: 'Another endpoint was switched off after failures.' },
  { id: 'usage.threshold', when: 'A part of a monthly quota was used up. Of the whole tenant.' },
  { id: 'subscription.changed', when: 'The subscription or its plan changed. Of the whole tenant.' },
  { id: 'invoice.paid', when: 'An invoice was paid. Of the whole tenant.' },
  { id: 'invoice.failed', when: 'A payment of an invoice failed. Of the whole tenant.' },
];

export const eventChoices = [
  { id: '', text: 'All events' },
  ...events.map(({ id, when }) => ({ id, text: id, note: when })),
];
