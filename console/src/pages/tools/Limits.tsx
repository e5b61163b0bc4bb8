import { NumberField, Switch, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select } from '../../ui/Select';
import type { ToolDraft } from './draft';
import { Pairs } from './Pairs';
import type { PartProps } from './ToolForm';

const breakers = [
  { id: 'default', text: 'As usual', note: 'when half of 10 calls in a minute failed, for 30 s' },
  { id: 'own', text: 'By these numbers' },
  { id: 'off', text: 'Never' },
];

/** What is seldom changed: variables, safety, times, repeats. */
export function Limits({ draft, set, wrong }: PartProps) {
  const isHttp = draft.kind === 'http';
  return (
    <Card>
      <details className="more" open={draft.assignments.length > 0 || draft.allowDynamicVars}>
        <summary>Variables and safety</summary>
        <div className="stack">
          <Switch isSelected={draft.allowDynamicVars} onChange={(allowDynamicVars) => set({ allowDynamicVars })}>
            Fill in {'{{variables}}'} of the session
          </Switch>
          <Pairs
            legend="Keep values of the answer"
            one="value"
            nameLabel="Variable"
            valueLabel="Where in the answer"
            pairs={draft.assignments}
            onChange={(assignments) => set({ assignments })}
            wrong={wrong['assignments']}
            hint="For later calls and turns: customer.id, items[0].id, or $ for all of it."
          />
          <Switch isSelected={draft.requiresUserIntent} onChange={(requiresUserIntent) => set({ requiresUserIntent })}>
            Only when the user has asked for it
          </Switch>
          <p className="dim small">
            For tools that pay, cancel, delete or write to others: the agent asks first when anything but the user led
            to the call.
          </p>
        </div>
      </details>
      <details className="more">
        <summary>Times and repeats</summary>
        <div className="stack">
          <div className="grid-2">
            <NumberField
              label="Time-out in seconds"
              minValue={1}
              maxValue={120}
              value={draft.timeoutSeconds}
              onChange={(timeoutSeconds) => set({ timeoutSeconds })}
              placeholder={isHttp ? '20' : '30'}
              wrong={wrong['timeout_seconds']}
              hint="With all attempts together."
            />
            <NumberField
              label="Most bytes of an answer"
              minValue={1024}
              maxValue={10_485_760}
              value={draft.responseMaxBytes}
              onChange={(responseMaxBytes) => set({ responseMaxBytes })}
              placeholder="262144"
              wrong={wrong['response_max_bytes']}
            />
            {isHttp && (
              <NumberField
                label="Attempts"
                minValue={1}
                maxValue={5}
                value={draft.maxAttempts}
                onChange={(maxAttempts) => set({ maxAttempts })}
                placeholder="3"
                wrong={wrong['retry.max_attempts']}
                hint="1: a call is never tried again."
              />
            )}
            {isHttp && (
              <TextField
                label="Try again after these statuses"
                value={draft.retryStatuses}
                onChange={(retryStatuses) => set({ retryStatuses })}
                placeholder="408, 425, 429, 502, 503, 504"
                wrong={wrong['retry.statuses']}
              />
            )}
          </div>
          <Breaker draft={draft} set={set} />
        </div>
      </details>
    </Card>
  );
}

function Breaker({ draft, set }: Pick<PartProps, 'draft' | 'set'>) {
  return (
    <>
      <div style={{ maxWidth: 360 }}>
        <Select
          label="Pause the tool when calls fail"
          choices={breakers}
          value={draft.breaker}
          onChange={(breaker) => set({ breaker: breaker as ToolDraft['breaker'] })}
        />
      </div>
      {draft.breaker === 'own' && (
        <div className="grid-2">
          <NumberField
            label="Share of failed calls, 0 to 1"
            minValue={0}
            maxValue={1}
            step={0.05}
            value={draft.failureRatio}
            onChange={(failureRatio) => set({ failureRatio })}
            placeholder="0.5"
          />
          <NumberField
            label="Of at least so many calls"
            minValue={1}
            maxValue={1000}
            value={draft.minCalls}
            onChange={(minCalls) => set({ minCalls })}
            placeholder="10"
          />
          <NumberField
            label="Within seconds"
            minValue={1}
            maxValue={3600}
            value={draft.windowSeconds}
            onChange={(windowSeconds) => set({ windowSeconds })}
            placeholder="60"
          />
          <NumberField
            label="Pause for seconds"
            minValue={1}
            maxValue={3600}
            value={draft.pauseSeconds}
            onChange={(pauseSeconds) => set({ pauseSeconds })}
            placeholder="30"
          />
        </div>
      )}
    </>
  );
}
