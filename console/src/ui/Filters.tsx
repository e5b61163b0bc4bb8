import { Fragment, useEffect, useRef, useState, type ReactNode } from 'react';

import { Button } from './Button';
import { TextField } from './Field';
import './filters.css';

interface Props {
  children: ReactNode;
  /** When something is filtered: takes all of it back, by a button. */
  onClear?: () => void;
  /** Whether they are many: on a telephone they are folded until something is filtered. */
  many?: boolean;
}

/** Fields that narrow a list. */
export function Filters({ children, onClear, many }: Props) {
  const [isOpen, setOpen] = useState(!many || onClear !== undefined);
  const [clearings, setClearings] = useState(0); // each makes the fields anew, without what does not count yet
  const clear = () => {
    onClear?.();
    setClearings(clearings + 1);
  };
  return (
    <>
      {!isOpen && (
        <div className="filters-closed">
          <Button onPress={() => setOpen(true)}>Filters</Button>
        </div>
      )}
      <div className={`filters ${isOpen ? '' : 'folded'}`} role="group" aria-label="Filters">
        <Fragment key={clearings}>{children}</Fragment>
        {onClear && (
          <Button kind="quiet" onPress={clear}>
            Clear filters
          </Button>
        )}
      </div>
    </>
  );
}

const pauseMs = 400;

/**
 * A text that a list is narrowed by. It counts when one pauses typing, and not when one leaves the field: a
 * row would be gone in the middle of the click on it.
 */
export function FilterText({
  label,
  value,
  onChange,
  placeholder,
}: {
  label: string;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
}) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value); // what the list is narrowed by as far as this field knows
  useEffect(() => {
    if (value === told.current) return; // said here, and more may have been typed since
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => {
      told.current = typed.trim();
      onChange(told.current);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return <TextField label={label} value={typed} onChange={setTyped} placeholder={placeholder} />;
}

/** A first and a last day. */
export function FilterDays({
  from,
  until,
  onChange,
}: {
  from: string;
  until: string;
  onChange(days: { from?: string; until?: string }): void;
}) {
  return (
    <>
      <TextField label="From" type="date" value={from} onChange={(value) => onChange({ from: value })} />
      <TextField label="To" type="date" value={until} onChange={(value) => onChange({ until: value })} />
    </>
  );
}
