import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';

import { SearchField } from './Field';

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
  search?: Search;
}

/** A field above the choices, for when they are some of many. */
interface Search {
  label: string;
  typed: string;
  onType(typed: string): void;
  /** The text of the value, which need not be among the choices. */
  shown: string | undefined;
  /** A sentence below the choices. */
  note: string | undefined;
}

// An empty string cannot be a key of the list.
const none = ' ';

/** One of a few choices, or of many that are searched. The id "" stands for none of the others. */
export function Select({ label, hideLabel, hint, choices, value, onChange, isDisabled, placeholder, search }: Props) {
  const list = (
    <ListBox
      items={choices.map((choice) => ({ ...choice, id: choice.id || none }))}
      renderEmptyState={() => <p className="choice-note choices-note">Nothing is found.</p>}
    >
      {({ id, text, note }) => (
        <ListBoxItem id={id} textValue={text} className="choice">
          <Text slot="label">{text}</Text>
          {note && <span className="choice-note">{note}</span>}
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <AriaSelect
      className="field"
      aria-label={hideLabel ? label : undefined}
      isDisabled={isDisabled}
      placeholder={placeholder}
      allowsEmptyCollection={search !== undefined}
      value={value || (choices.some(({ id }) => id === '') ? none : null)}
      onChange={(key) => onChange(key === none ? '' : String(key ?? ''))}
      onOpenChange={() => search?.onType('')}
    >
      {!hideLabel && <Label className="label">{label}</Label>}
      <Button className="select-button">
        <SelectValue>{({ defaultChildren }) => search?.shown ?? defaultChildren}</SelectValue>
        <span aria-hidden="true">▾</span>
      </Button>
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <Popover className="popover">
        {search ? (
          <Autocomplete inputValue={search.typed} onInputChange={search.onType} disableAutoFocusFirst>
            <SearchField label={search.label} autoFocus />
            {list}
            {search.note && <p className="choice-note choices-note">{search.note}</p>}
          </Autocomplete>
        ) : (
          list
        )}
      </Popover>
    </AriaSelect>
  );
}
