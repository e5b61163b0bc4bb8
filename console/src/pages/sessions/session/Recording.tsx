import type { Session, Turn } from '#gen/sessions_pb';

import { useMaySeePersonal } from '../../../app/caller';
import { Button } from '../../../ui/Button';
import { Badge, Card, FailureNote } from '../../../ui/Page';
import { Progress } from '../../../ui/Progress';
import { bytes, duration } from '../../../ui/format';
import { clock } from './clock';
import type { Player, Stretch } from './usePlayer';

const states: Record<string, [string, 'good' | 'warn' | 'accent']> = {
  recording: ['goes on', 'accent'],
  ready: ['whole', 'good'],
  incomplete: ['some of it is missing', 'warn'],
};

/** The sound of a session, with what is heard when. */
export function Recording({
  session: { recording },
  player,
  turns,
  agentName,
}: {
  session: Session;
  player: Player;
  turns: readonly Turn[];
  agentName: string;
}) {
  const may = useMaySeePersonal();
  if (!recording || recording.status === 'none') return null;
  if (recording.status === 'erased') return <p className="note">The recording was kept no longer.</p>;
  const [text, tone] = states[recording.status] ?? [recording.status, 'accent'];
  return (
    <Card
      title="Recording"
      actions={
        <>
          <Badge tone={tone}>{text}</Badge>
          <span className="dim small">
            {duration(recording.durationMs)} · {bytes(recording.sizeBytes)}
          </span>
        </>
      }
    >
      {!may && <p className="dim">A voice is personal data, which your role, analyst, does not show.</p>}
      {player.error !== undefined && <FailureNote error={player.error} />}
      {player.url ? (
        <audio
          ref={player.audio}
          className="player"
          controls
          src={player.url}
          onTimeUpdate={player.timeChanged}
          aria-label="The recording: the user on the left, the agent on the right"
        />
      ) : player.isLoading ? (
        <Progress
          label="Loading the recording"
          value={recording.sizeBytes > 0 ? (100 * player.loaded) / recording.sizeBytes : undefined}
          text={bytes(player.loaded)}
        />
      ) : (
        <div hidden={!may}>
          <Button onPress={() => void player.load()}>Load the recording</Button>{' '}
          <span className="dim small">Each download is in the audit log.</span>
        </div>
      )}
      <Strip lengthMs={recording.durationMs} player={player} turns={turns} agentName={agentName} />
    </Card>
  );
}

/** Who is heard when: one lane for the user, one for the agent. A press plays from there. */
function Strip({
  lengthMs,
  player,
  turns,
  agentName,
}: {
  lengthMs: number;
  player: Player;
  turns: readonly Turn[];
  agentName: string;
}) {
  if (player.stretches.length === 0) return null;
  const end = Math.max(1, lengthMs, ...player.stretches.map(({ toMs }) => toMs));
  const words = new Map(turns.flatMap(({ items }) => items.map(({ id, text }): [string, string] => [id, text])));
  const lane = (role: string, name: string) => (
    <div className="lane" key={role}>
      <span className="small dim">{name}</span>
      <div className={`lane-track ${role}`} role="group" aria-label={`When ${name} is heard`}>
        {player.stretches
          .filter((stretch) => stretch.role === role)
          .map((stretch) => (
            <Piece
              key={stretch.itemId}
              {...{ stretch, end, player }}
              words={words.get(stretch.itemId) ?? ''}
              name={name}
            />
          ))}
      </div>
    </div>
  );
  return (
    <div className="stack tight">
      {lane('user', 'User')}
      {lane('agent', agentName)}
    </div>
  );
}

function Piece({
  stretch: { fromMs, toMs },
  end,
  player,
  words,
  name,
}: {
  stretch: Stretch;
  end: number;
  player: Player;
  words: string;
  name: string;
}) {
  return (
    <button
      type="button"
      className="piece"
      title={`${clock(fromMs)} ${words}`}
      aria-label={`${name} at ${clock(fromMs)}: ${words}`}
      onClick={() => void player.playFrom(fromMs)}
      style={{ left: `${(100 * fromMs) / end}%`, width: `${(100 * (toMs - fromMs)) / end}%` }}
    />
  );
}
