import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import * as api from '../api/clients';
import { failureOf } from '../api/failure';
import { useMutation } from '../api/useMutation';
import { useHere, useMay } from '../app/caller';
import { Button } from '../ui/Button';
import { FailureNote } from '../ui/Page';
import { begin, begunBefore, forgetBegun, type Begun } from './begin';
import { Live } from './Live';
import { parseSettings, storedSettings, storeSettings, type Wrong } from './settings';
import { SettingsForm } from './SettingsForm';
import './conversation.css';
import './turn/turn.css';

interface Props {
  agentId: string;
  /** Talks with the agent's draft. */
  draft?: boolean;
  /** Is waited for before a session begins: what is to be saved first. */
  onStart?(): Promise<void>;
  /** Is told when a session begins, or is come back to: ses_… */
  onSession?(sessionId: string): void;
}

/** A test conversation with an agent, in writing and aloud. Give it a key of the agent where that may change. */
export function Conversation({ agentId, draft = false, onStart, onSession }: Props) {
  const { workspaceId } = useHere();
  const agent = useQuery({
    queryKey: ['talk', 'agent', agentId],
    queryFn: ({ signal }) => api.agents.getAgent({ workspaceId, agentId }, { signal }),
  });
  const [begun, setBegun] = useState<Begun | undefined>(() => begunBefore(agentId, draft));
  const [settings, setSettings] = useState(storedSettings);
  const [wrong, setWrong] = useState<Wrong>({});
  const start = useMutation({
    mutationFn: async (wanted: Parameters<typeof begin>[0]) => {
      await onStart?.();
      return begin(wanted);
    },
    onSuccess: setBegun,
  });
  const sessionId = begun?.sessionId;
  useEffect(() => {
    if (sessionId) onSession?.(sessionId);
  }, [sessionId]); // not onSession: who passes a new function each time is not told again

  const name = agent.data?.name ?? 'Agent';
  const startWith = (talks: boolean) => {
    const { parsed, wrong: found } = parseSettings(settings);
    setWrong(found);
    if (!parsed) return setBegun(undefined);
    storeSettings(settings);
    start.mutate({ agentId, isDraft: draft, talks, modality: settings.modality, settings: parsed });
  };
  const leave = () => {
    forgetBegun(agentId, draft);
    setBegun(undefined);
  };
  if (begun) {
    return (
      <div className="talk">
        {start.error && <FailureNote error={start.error} />}
        <Live
          key={begun.sessionId}
          begun={begun}
          agentName={name}
          isStarting={start.isPending}
          onAgain={startWith}
          onLeave={leave}
          onOver={() => forgetBegun(agentId, draft)}
        />
      </div>
    );
  }
  return (
    <div className="talk">
      <Start
        name={name}
        isDraft={draft}
        firstMessage={agent.data?.firstMessage ?? ''}
        isStarting={start.isPending}
        onStart={startWith}
      />
      {agent.error && <FailureNote error={agent.error} />}
      {start.error && <FailureNote error={start.error} />}
      <details className="part talk-settings" open={isSettingWrong(wrong, start.error) || undefined}>
        <summary>Settings: user, variables, overrides, your tools</summary>
        <SettingsForm settings={settings} wrong={{ ...wrong, ...fieldsOf(start.error) }} onChange={setSettings} />
      </details>
    </div>
  );
}

function fieldsOf(error: unknown): Wrong {
  const wrong: Wrong = {};
  for (const [field, text] of error ? Object.entries(failureOf(error).fields) : []) {
    if (field.startsWith('overrides')) wrong.overrides = `${field}: ${text}`;
    if (field === 'user_id') wrong.userId = text;
  }
  return wrong;
}

const isSettingWrong = (wrong: Wrong, error: unknown) => Object.keys({ ...wrong, ...fieldsOf(error) }).length > 0;

interface StartProps {
  name: string;
  isDraft: boolean;
  firstMessage: string;
  isStarting: boolean;
  onStart(talks: boolean): void;
}

function Start({ name, isDraft, firstMessage, isStarting, onStart }: StartProps) {
  const may = useMay('runtime');
  return (
    <section className="talk-start" aria-label="Begin">
      <h2>{isDraft ? `Try the draft of ${name}` : `Talk with ${name}`}</h2>
      <p className="dim" dir="auto">
        {isDraft
          ? 'The conversation uses the draft as it is saved now.'
          : firstMessage
            ? `It begins: “${firstMessage}”`
            : 'It waits until you say something.'}
      </p>
      {may ? (
        <div className="row">
          <Button kind="primary" isDisabled={isStarting} onPress={() => onStart(false)}>
            {isStarting ? 'Starting …' : 'Start in writing'}
          </Button>
          <Button isDisabled={isStarting} onPress={() => onStart(true)}>
            Talk aloud
          </Button>
        </div>
      ) : (
        <p>Your role may read conversations, and not begin any.</p>
      )}
      <p className="small dim">
        You see what each answer is made of: passages with their scores, calls of tools, where the time went, and a
        receipt. It counts in the usage as any other conversation.
      </p>
    </section>
  );
}
