import { useState } from 'react';

import { useAgentChoices, useAgentNames } from '../api/useAgentNames';
import { Select, type Choice } from './Select';

interface Props {
  label: string;
  hideLabel?: boolean;
  /** What the id "" stands for: all agents, or none. */
  empty?: string;
  /** Agents that are not offered. */
  without?: readonly string[];
  value: string;
  onChange(agentId: string): void;
}

const none: readonly string[] = [];

/** One of the workspace's agents. The service searches, so that each of them can be found. */
export function AgentSelect({ label, hideLabel, empty, without = none, value, onChange }: Props) {
  const [q, setQ] = useState('');
  const { choices, isAll } = useAgentChoices(q.trim());
  const name = useAgentNames([value])(value);
  const first: Choice[] = empty !== undefined && q === '' ? [{ id: '', text: empty }] : [];
  return (
    <Select
      label={label}
      hideLabel={hideLabel}
      placeholder="Choose an agent"
      choices={[...first, ...choices.filter(({ id }) => !without.includes(id))]}
      value={value}
      onChange={onChange}
      search={{
        label: 'Search agents by name',
        typed: q,
        onType: setQ,
        shown: value === '' ? empty : name,
        note: isAll ? undefined : 'There are more. Search for them by name.',
      }}
    />
  );
}
