import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';

export interface Choice {
  id: string;
  text: string;
  note?: string;
}

interface Props {
  label: string;
  /** Whether the label is for screen readers only. */
  hideLabel?: boolean;
  hint?: string;
  choices: Choice[];
  value: string;
  onChange(value: string): void;
  isDisabled?: boolean;
  placeholder?: string;
}

// An empty string cannot be a key of the list.
const none = ' ';

/** One of a few choices. The id "" stands for none of the others. */
export function Select({ label, hideLabel, hint, choices, value, onChange, isDisabled, placeholder }: Props) {
  return (
    <AriaSelect
      className="field"
      aria-label={hideLabel ? label : undefined}
      isDisabled={isDisabled}
      placeholder={placeholder}
      value={value || (choices.some(({ id }) => id === '') ? none : null)}
      onChange={(key) => onChange(key === none ? '' : String(key ?? ''))}
    >
      {!hideLabel && <Label className="label">{label}</Label>}
      <Button className="select-button">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <Popover className="popover">
        <ListBox items={choices.map((choice) => ({ ...choice, id: choice.id || none }))}>
          {({ id, text, note }) => (
            <ListBoxItem id={id} textValue={text} className="choice">
              <Text slot="label">{text}</Text>
              {note && <span className="choice-note">{note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
