import { useState } from 'react';

import type { Session, Turn } from '#gen/sessions_pb';

import { between, lengthOf, stagesOf, type Stage } from '../../../conversation/turn/stages';
import { SmallTable } from '../../../conversation/turn/Part';
import { Waterfall } from '../../../conversation/turn/Waterfall';
import { Button } from '../../../ui/Button';
import { Card, Empty } from '../../../ui/Page';
import { Switch } from '../../../ui/Field';
import { duration } from '../../../ui/format';

/** The stages of all turns on one axis. Without the pauses a turn begins where the one before ended. */
function stagesOfAll(session: Session, turns: readonly Turn[], leavesOutPauses: boolean): Stage[] {
  let end = 0;
  return turns.flatMap((turn) => {
    const begin = leavesOutPauses ? end : between(session.startedAt, turn.startedAt);
    end = begin + lengthOf(turn);
    const stages = stagesOf(turn);
    const whole = stages.pop();
    return [...(whole ? [{ ...whole, name: `Turn ${turn.index}` }] : []), ...stages].map((stage) => ({
      ...stage,
      from: stage.from + begin,
    }));
  });
}

/** Where the time of a session went: each turn's stages and calls of tools on one axis, as bars and as a table. */
export function Timeline({ session, turns }: { session: Session; turns: readonly Turn[] }) {
  const [isTable, setTable] = useState(false);
  const [leavesOutPauses, setLeavesOut] = useState(true);
  if (turns.length === 0)
    return <Empty title="Nothing was said yet">Each turn is here with where its time went.</Empty>;
  const stages = stagesOfAll(session, turns, leavesOutPauses);
  return (
    <Card
      title="Where the time went"
      actions={
        <>
          <Switch isSelected={leavesOutPauses} onChange={setLeavesOut}>
            Leave out the pauses
          </Switch>
          <Button kind="quiet" onPress={() => setTable(!isTable)}>
            {isTable ? 'Bars' : 'Table'}
          </Button>
        </>
      }
    >
      {isTable ? (
        <SmallTable
          label="Stages"
          head={['Stage', 'Begins', 'Took']}
          rows={stages.map(({ name, from, ms }) => [name, duration(from), duration(ms)])}
        />
      ) : (
        <Waterfall stages={stages} label="The stages of all turns" />
      )}
    </Card>
  );
}
