import { useState, type ReactNode } from 'react';
import { Checkbox as AriaCheckbox, type CheckboxProps } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { SearchField as AriaSearchField, type SearchFieldProps } from 'react-aria-components/SearchField';
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components/Switch';
import { Text } from 'react-aria-components/Text';
import { TextArea as AriaTextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField, type TextFieldProps } from 'react-aria-components/TextField';

interface Common {
  label: string;
  /** A sentence below the field. */
  hint?: ReactNode;
  /** What is wrong with the value; shown in place of nothing. */
  wrong?: string;
}

interface Typed {
  placeholder?: string;
  /** Whether the value is code: a monospaced font. */
  code?: boolean;
}

function Around({ hint, wrong }: Omit<Common, 'label'>) {
  return (
    <>
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="wrong">{wrong}</FieldError>
    </>
  );
}

// The service checks what is entered. The browser's own checks (validationBehavior native) would
// keep a form from being sent again while the service's last objection is shown.

/** One line of text. */
export function TextField({ label, hint, wrong, placeholder, code, ...props }: TextFieldProps & Common & Typed) {
  return (
    <AriaTextField {...props} isInvalid={!!wrong} validationBehavior="aria" className="field">
      <Label>{label}</Label>
      <Input className={`input ${code ? 'code' : ''}`} placeholder={placeholder} />
      <Around hint={hint} wrong={wrong} />
    </AriaTextField>
  );
}

/** Lines of text. */
export function TextArea({
  label,
  hint,
  wrong,
  placeholder,
  code,
  rows,
  ...props
}: TextFieldProps & Common & Typed & { rows?: number }) {
  return (
    <AriaTextField {...props} isInvalid={!!wrong} validationBehavior="aria" className="field">
      <Label>{label}</Label>
      <AriaTextArea
        className={`input ${code ? 'code' : ''}`}
        placeholder={placeholder}
        rows={rows}
        spellCheck={!code}
      />
      <Around hint={hint} wrong={wrong} />
    </AriaTextField>
  );
}

interface NumberProps extends Common, Typed, Omit<TextFieldProps, 'value' | 'defaultValue' | 'onChange' | 'type'> {
  value: number;
  onChange?(value: number): void;
  minValue?: number;
  maxValue?: number;
  /** 1: a telephone shows a keyboard without a decimal point. */
  step?: number;
}

const print = (value: number) => (Number.isNaN(value) ? '' : String(value));
const read = (text: string) => (text.trim() === '' ? NaN : Number(text.replace(',', '.')));
const isNoNumber = (text: string) => text.trim() !== '' && !Number.isFinite(read(text));

/**
 * A number. NaN is an empty field. It is not the component library's own, which sets innerHTML: the
 * Content-Security-Policy forbids that.
 */
export function NumberField({
  value,
  onChange,
  minValue = -Infinity,
  maxValue = Infinity,
  step,
  wrong,
  ...props
}: NumberProps) {
  const [typed, setTyped] = useState(print(value));
  const isMine = isNoNumber(typed) || Object.is(read(typed), value);
  const change = (text: string) => {
    setTyped(text);
    if (!isNoNumber(text)) onChange?.(read(text));
  };
  const leave = () => {
    if (isNoNumber(typed)) setTyped(print(value));
    const near = Math.min(Math.max(value, minValue), maxValue);
    if (!Number.isNaN(value) && near !== value) onChange?.(near);
  };
  return (
    <TextField
      {...props}
      inputMode={step === 1 ? 'numeric' : 'decimal'}
      autoComplete="off"
      value={isMine ? typed : print(value)}
      onChange={change}
      onBlur={leave}
      wrong={isMine && isNoNumber(typed) ? 'This is not a number.' : wrong}
    />
  );
}

/** A field that searches while one types. Its label is not shown. */
export function SearchField({
  label,
  placeholder,
  ...props
}: SearchFieldProps & { label: string; placeholder?: string }) {
  return (
    <AriaSearchField {...props} aria-label={label} className="field">
      <Input className="input" placeholder={placeholder ?? label} />
    </AriaSearchField>
  );
}

export function Checkbox({
  children,
  hint,
  ...props
}: Omit<CheckboxProps, 'children'> & { children: ReactNode; hint?: ReactNode }) {
  return (
    <AriaCheckbox {...props} className="check">
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className="box" aria-hidden="true">
            {isIndeterminate ? '–' : isSelected ? '✓' : ''}
          </span>
          <span>
            {children}
            {hint && (
              <span className="choice-note">
                <br />
                {hint}
              </span>
            )}
          </span>
        </>
      )}
    </AriaCheckbox>
  );
}

export function Switch({ children, ...props }: Omit<SwitchProps, 'children'> & { children: ReactNode }) {
  return (
    <AriaSwitch {...props} className="switch">
      <span className="track" aria-hidden="true" />
      <span>{children}</span>
    </AriaSwitch>
  );
}
