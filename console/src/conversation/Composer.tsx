import { useEffect, useState, type ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField } from 'react-aria-components/TextField';

import { forget, keep, kept } from '../api/kept';
import { Button } from '../ui/Button';

interface Props {
  label: string;
  placeholder?: string;
  isDisabled?: boolean;
  autoFocus?: boolean;
  /** The name under which a text that is not sent yet is kept in the tab. */
  keptAs?: string;
  /** Sends a text; when it says false the text stays. */
  onSend(text: string): boolean | Promise<boolean>;
  /** Further buttons. */
  children?: ReactNode;
  send?: string;
}

/** Where something is written. Enter sends, Shift and Enter make a line. */
export function Composer({
  label,
  placeholder,
  isDisabled,
  autoFocus,
  keptAs,
  onSend,
  children,
  send = 'Send',
}: Props) {
  const [text, setText] = useState(() => (keptAs && kept<string>(keptAs)) || '');
  const [isSending, setSending] = useState(false);
  useEffect(() => {
    if (!keptAs || isSending) return; // what is being sent is kept until it is sent
    if (text.trim() === '') forget(keptAs);
    else keep(keptAs, text);
  }, [keptAs, text, isSending]);
  const submit = async () => {
    const said = text.trim();
    if (said === '' || isDisabled || isSending) return;
    setSending(true);
    setText('');
    const isSent = await onSend(said);
    if (isSent && keptAs) forget(keptAs); // not only by the effect: the session may have ended, and this with it
    if (!isSent) setText((typed) => typed || said);
    setSending(false);
  };
  return (
    <Form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField
        className="field"
        aria-label={label}
        value={text}
        onChange={setText}
        maxLength={32_000}
        isDisabled={isDisabled}
        autoFocus={autoFocus}
      >
        <TextArea
          className="input"
          rows={2}
          dir="auto"
          placeholder={placeholder}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void submit();
          }}
        />
      </TextField>
      <div className="row">
        <Button kind="primary" type="submit" isDisabled={isDisabled || isSending || text.trim() === ''}>
          {send}
        </Button>
        {children}
      </div>
    </Form>
  );
}
