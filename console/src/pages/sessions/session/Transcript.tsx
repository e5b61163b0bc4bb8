import { useEffect, useRef } from 'react';

import type { Session, Turn } from '#gen/sessions_pb';

import { TurnCard } from '../../../conversation/turn/TurnCard';
import { mostTurns } from '../../../conversation/transcript';
import { Button } from '../../../ui/Button';
import { Empty } from '../../../ui/Page';
import { clock } from './clock';
import { Operator, Unsent } from './Operator';
import { isOpen } from './useAgentName';
import { useFollowed } from './useFollowed';
import type { Player } from './usePlayer';

interface Props {
  session: Session;
  turns: readonly Turn[];
  agentName: string;
  player: Player;
  /** The turn that the address names: turn_… */
  chosen: string;
}

/** What was said, turn by turn. */
export function Transcript({ session, turns, agentName, player, chosen }: Props) {
  const last = turns.at(-1);
  const live = useFollowed(last);
  const isThere = turns.some(({ id }) => id === chosen);
  useEffect(() => {
    if (isThere) document.getElementById(chosen)?.scrollIntoView();
  }, [chosen, isThere]);
  const end = useRef<HTMLDivElement>(null);
  const isTaken = isOpen(session) && session.handover?.status === 'operator';
  useEffect(() => {
    if (isTaken) end.current?.scrollIntoView({ block: 'end' }); // who writes sees what was said last
  }, [isTaken, turns.length]);
  return (
    <div className="stack loose" ref={end}>
      {turns.length === 0 && <Nothing session={session} />}
      <div className="session-turns">
        {turns.map((turn) => {
          const at = player.startOf(turn);
          return (
            <div key={turn.id} className={player.isPlaying(turn) ? 'is-playing' : undefined}>
              <TurnCard
                turn={turn}
                agentName={agentName}
                live={turn === last ? live : undefined}
                actions={
                  at !== undefined && (
                    <Button
                      kind="quiet"
                      aria-label={`Play turn ${turn.index} from ${clock(at)}`}
                      onPress={() => void player.playFrom(at)}
                    >
                      ▶ {clock(at)}
                    </Button>
                  )
                }
              />
            </div>
          );
        })}
      </div>
      {turns.length >= mostTurns && (
        <p className="note warn">The first {mostTurns} turns are shown. The API has all of them.</p>
      )}
      {isOpen(session) ? <Operator session={session} /> : <Unsent sessionId={session.id} />}
    </div>
  );
}

function Nothing({ session }: { session: Session }) {
  if (session.contentDeletedAt)
    return <Empty title="What was said was deleted">The agent keeps nothing of its conversations.</Empty>;
  return (
    <Empty title="Nothing was said yet">
      {isOpen(session)
        ? 'What is said appears here while it is said.'
        : 'The session ended before anybody said anything.'}
    </Empty>
  );
}
