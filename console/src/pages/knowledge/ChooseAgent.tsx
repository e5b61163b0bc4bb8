import { useState } from 'react';

import { AgentSelect } from '../../ui/AgentSelect';
import { Button } from '../../ui/Button';

interface Props {
  label: string;
  /** Agents that are not offered. */
  without?: readonly string[];
  action: string;
  isDisabled?: boolean;
  onChoose(agentId: string): void;
}

/** Chooses an agent, and does something with it. */
export function ChooseAgent({ label, without = [], action, isDisabled, onChoose }: Props) {
  const [chosen, setChosen] = useState('');
  const isNone = chosen === '' || without.includes(chosen);
  return (
    <div className="row" style={{ alignItems: 'end' }}>
      <div style={{ flex: '1 1 200px', maxWidth: 320 }}>
        <AgentSelect label={label} without={without} value={isNone ? '' : chosen} onChange={setChosen} />
      </div>
      <Button kind="primary" isDisabled={isDisabled || isNone} onPress={() => onChoose(chosen)}>
        {action}
      </Button>
    </div>
  );
}
