import { useEffect, useMemo, useRef, useState } from 'react';

import type { Turn } from '#gen/sessions_pb';

import * as api from '../api/clients';
import type { Entry, Session } from '#sdk/session/index';
import { Button, ButtonLink } from '../ui/Button';
import { FailureNote } from '../ui/Page';
import { Menu } from '../ui/Menu';
import { tell, tellFailure } from '../ui/toast';
import type { Begun } from './begin';
import { Composer } from './Composer';
import { EntryView } from './EntryView';
import { turnsOfAnswers } from './match';
import { SidePanel } from './SidePanel';
import { useTranscript } from './transcript';
import { UserBubble } from './turn/AnswerCard';
import { TurnCard } from './turn/TurnCard';
import { useFollow } from './useFollow';
import { useSession, type State } from './useSession';
import { VoiceBar } from './VoiceBar';
import { Waiting } from './Waiting';

interface Props {
  begun: Begun;
  agentName: string;
  /** Whether another conversation is being begun. */
  isStarting: boolean;
  /** Begins another conversation with the same settings, aloud or in writing. */
  onAgain(talks: boolean): void;
  /** Goes back to the settings. */
  onLeave(): void;
  /** The session has ended: it is not come back to. */
  onOver(): void;
}

/** A conversation that goes on, or that is over and still looked at. */
export function Live({ begun, agentName, isStarting, onAgain, onLeave, onOver }: Props) {
  const { session, log, state } = useSession(begun);
  const { box, content, follow } = useFollow();
  useEffect(() => {
    if (state.isOver) onOver();
  }, [state.isOver]);
  const say = (text: string) => {
    follow();
    session.send(text);
    return true;
  };
  return (
    <div className="talk-live">
      <section className="talk-main" aria-label="Conversation">
        <Head {...{ begun, agentName, session, state, onAgain, onLeave }} />
        <div className="talk-scroll" ref={box} tabIndex={0} role="region" aria-label="What was said">
          <div ref={content} className="talk-entries">
            <Entries begun={begun} agentName={agentName} state={state} />
            <Waiting session={session} approvals={state.view.approvals} calls={state.view.clientTools} />
          </div>
        </div>
        <p className="visually-hidden" role="status">
          {state.announcement}
        </p>
        {state.trouble && !state.isOver && (
          <p className="note warn" role="alert">
            {state.trouble}
          </p>
        )}
        <VoiceBar session={session} voice={state.voice} latency={state.latency} />
        {state.isOver ? (
          <Over begun={begun} isStarting={isStarting} onAgain={onAgain} />
        ) : (
          <Say begun={begun} session={session} state={state} onSay={say} onAgain={onAgain} />
        )}
      </section>
      <SidePanel sessionId={begun.sessionId} log={log} />
    </div>
  );
}

function Head({
  begun: { sessionId },
  agentName,
  session,
  state: { connection, isOver },
  onAgain,
  onLeave,
}: Omit<Props, 'isStarting' | 'onOver'> & { session: Session; state: State }) {
  const end = () =>
    api.sessions.endSession({ sessionId, status: 'completed', reason: 'ended in the console' }).catch(tellFailure);
  const copy = () =>
    navigator.clipboard.writeText(sessionId).then(() => tell('The id of the session was copied.'), tellFailure);
  const isClosed = connection.name === 'closed' && !isOver;
  return (
    <div className="talk-head row">
      <h2>{agentName}</h2>
      <span className="row small dim" role="status">
        <span className={`dot ${connection.name}`} aria-hidden="true" />
        {isOver ? 'Over' : connection.name === 'open' ? 'Connected' : connection.text}
      </span>
      <span className="grow" />
      {isClosed && <Button onPress={() => session.reconnect()}>Reconnect</Button>}
      {!isOver && <Button onPress={() => void end()}>End</Button>}
      <Menu
        label="More for this conversation"
        actions={[
          { id: 'again', text: 'Begin another', run: () => onAgain(false) },
          { id: 'open', text: 'Open its page', run: () => (location.hash = `/sessions/${sessionId}`) },
          { id: 'copy', text: 'Copy its id', run: () => void copy() },
          {
            id: 'drop',
            text: 'Lose the connection, to see it come back',
            isDisabled: connection.name !== 'open',
            run: () => session.drop(),
          },
          { id: 'leave', text: 'Other settings', run: onLeave },
        ]}
      />
    </div>
  );
}

const hangingMs = 2000; // how often a turn is looked at that the socket does not tell of

/** Whether the sockets tell of the answer of a turn that was in progress when the page was loaded. */
function isToldOf(turn: Turn | undefined, entries: readonly Entry[], found: ReadonlyMap<string, Turn>): boolean {
  if (!turn) return false;
  if (turn.status !== 'in_progress') return [...found.values()].some(({ id }) => id === turn.id);
  return entries.some((entry) => entry.kind === 'answer' && entry.id !== '');
}

function Entries({ begun, agentName, state: { view } }: { begun: Begun; agentName: string; state: State }) {
  const [isHanging, setHanging] = useState(false);
  const transcript = useTranscript(begun.sessionId, {
    enabled: begun.isResumed || view.entries.length > 0,
    refetchInterval: isHanging ? hangingMs : false,
  });
  const turns = transcript.data;
  const before = useRef(begun.isResumed ? undefined : 0); // the index of the first turn that the socket tells of
  const half = useRef(''); // the turn whose answer was under way when the page was loaded again
  if (before.current === undefined && turns) {
    const last = turns.at(-1);
    half.current = last?.status === 'in_progress' ? last.id : '';
    before.current = half.current ? (last?.index ?? 0) : (last?.index ?? -1) + 1;
  }
  const first = before.current ?? 0;
  const found = useMemo(() => turnsOfAnswers(view.entries, turns ?? [], first), [view.entries, turns, first]);
  const halfTurn = turns?.find(({ id }) => id === half.current);
  const isTold = isToldOf(halfTurn, view.entries, found);
  const hangs = halfTurn?.status === 'in_progress' && !isTold;
  useEffect(() => setHanging(hangs), [hangs]);
  let question = '';
  return (
    <>
      {transcript.error && <FailureNote error={transcript.error} />}
      {turns
        ?.filter(({ index }) => index < first)
        .map((turn) => (
          <TurnCard key={turn.id} turn={turn} agentName={agentName} />
        ))}
      {halfTurn &&
        (isTold ? <UserBubble text={halfTurn.userText} /> : <TurnCard turn={halfTurn} agentName={agentName} />)}
      {view.entries.map((entry) => {
        if (entry.kind === 'answer' && entry.id === '') return null; // a person answers, who has messages of their own
        if (entry.kind === 'user') question = entry.text;
        return (
          <EntryView
            key={`${entry.kind} ${entry.id}`}
            entry={entry}
            agentName={agentName}
            question={question}
            turn={found.get(entry.id)}
          />
        );
      })}
    </>
  );
}

function Say({
  begun,
  session,
  state,
  onSay,
  onAgain,
}: {
  begun: Begun;
  session: Session;
  state: State;
  onSay(text: string): boolean;
  onAgain(talks: boolean): void;
}) {
  const [isOffered, setOffered] = useState(false);
  const isOff = state.voice.phase === 'off';
  const talk = () => {
    if (!begun.canTalk) return setOffered(true);
    void (isOff ? session.voice.start() : session.voice.stop());
  };
  const canStop = state.isAnswering || state.voice.agentSpeaks;
  return (
    <>
      {isOffered && (
        <div className="note row between" role="status">
          <span>This conversation is in writing only. Another one, with the same settings, can be aloud.</span>
          <Button onPress={() => onAgain(true)}>Begin it</Button>
        </div>
      )}
      <Composer
        label="What you say"
        placeholder="Say something. Enter sends it."
        autoFocus={!begun.isResumed && !begun.talks}
        onSend={onSay}
      >
        <Button onPress={talk} aria-pressed={!isOff}>
          {isOff ? 'Talk' : 'Stop talking'}
        </Button>
        {canStop && <Button onPress={() => session.cancel()}>Stop the answer</Button>}
      </Composer>
    </>
  );
}

function Over({ begun, isStarting, onAgain }: Pick<Props, 'begun' | 'isStarting' | 'onAgain'>) {
  return (
    <div className="row talk-over">
      <Button kind="primary" autoFocus isDisabled={isStarting} onPress={() => onAgain(false)}>
        Begin another
      </Button>
      <Button isDisabled={isStarting} onPress={() => onAgain(true)}>
        Begin another aloud
      </Button>
      <ButtonLink kind="quiet" href={`#/sessions/${begun.sessionId}`}>
        See this one whole
      </ButtonLink>
    </div>
  );
}
