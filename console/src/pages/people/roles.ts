/** The roles of people, with what they may do. */
export const roles = [
  { id: 'owner', text: 'owner', note: 'everything, also keys, people and the plan' },
  {
    id: 'operator',
    text: 'operator',
    note: 'everything inside workspaces: agents, knowledge, tools, sessions, webhooks',
  },
  {
    id: 'analyst',
    text: 'analyst',
    note: 'reads everything, with personal data masked in transcripts, and without recordings',
  },
  { id: 'billing', text: 'billing', note: 'usage, plan and payments, and nothing else' },
  { id: 'none', text: 'none', note: 'cannot sign in' },
];
