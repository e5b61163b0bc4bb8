import { Button } from '../../ui/Button';
import { Checkbox } from '../../ui/Field';
import { events } from './events';

/** Which events an endpoint gets, each with a sentence of when it fires. */
export function EventsField({
  value,
  onChange,
  wrong,
}: {
  value: string[];
  onChange(value: string[]): void;
  wrong?: string;
}) {
  const isAll = events.every(({ id }) => value.includes(id));
  return (
    <fieldset className="events">
      <legend>Events</legend>
      <div className="row between">
        <span className="hint">
          Choose what your program wants to know. {value.length === 0 && 'Without an event nothing is sent.'}
        </span>
        <Button kind="quiet" onPress={() => onChange(isAll ? [] : events.map(({ id }) => id))}>
          {isAll ? 'None' : 'All'}
        </Button>
      </div>
      {wrong && (
        <p className="small" style={{ color: 'var(--bad)' }} role="alert">
          {wrong}
        </p>
      )}
      <div className="events-list">
        {events.map(({ id, when }) => (
          <Checkbox
            key={id}
            isSelected={value.includes(id)}
            hint={when}
            onChange={(isOn) => onChange(isOn ? [...value, id] : value.filter((other) => other !== id))}
          >
            <code>{id}</code>
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}
