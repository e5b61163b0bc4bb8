import { useState } from 'react';

import { Button } from '../../ui/Button';
import { Select } from '../../ui/Select';

interface Props {
  label: string;
  agents: { id: string; name: string }[];
  action: string;
  isDisabled?: boolean;
  onChoose(agentId: string): void;
}

/** Chooses an agent, and does something with it. */
export function ChooseAgent({ label, agents, action, isDisabled, onChoose }: Props) {
  const [chosen, setChosen] = useState('');
  if (agents.length === 0) return null;
  return (
    <div className="row" style={{ alignItems: 'end' }}>
      <div style={{ flex: '1 1 200px', maxWidth: 320 }}>
        <Select
          label={label}
          placeholder="Choose an agent"
          choices={agents.map(({ id, name }) => ({ id, text: name }))}
          value={chosen}
          onChange={setChosen}
        />
      </div>
      <Button
        kind="primary"
        isDisabled={isDisabled || !agents.some(({ id }) => id === chosen)}
        onPress={() => onChoose(chosen)}
      >
        {action}
      </Button>
    </div>
  );
}
