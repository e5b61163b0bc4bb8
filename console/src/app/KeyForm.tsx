import { useState, type ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Caller } from '#gen/people_pb';

import { whoCalls } from '../api/clients';
import { apiKey } from '../api/credentials';
import { failureOf } from '../api/failure';
import { Button } from '../ui/Button';
import { TextField } from '../ui/Field';

/** Asks for an API key, and tries it. A key that is refused leaves the one before in use. */
export function KeyForm({
  hint,
  isSecondary,
  onKey,
}: {
  hint: ReactNode;
  /** There is another way in, which is to be preferred. */
  isSecondary?: boolean;
  onKey(caller: Caller): void;
}) {
  const [key, setKey] = useState('');
  const [wrong, setWrong] = useState('');
  const [isTrying, setTrying] = useState(false);
  const tryKey = async () => {
    if (!/^[!-~]+$/.test(key.trim()))
      return setWrong(
        'This is not a key: keys begin with prl_, and have letters and digits without accents or spaces.',
      );
    setTrying(true);
    const before = apiKey.get();
    apiKey.set(key);
    try {
      onKey(await whoCalls());
    } catch (error) {
      apiKey.set(before);
      setWrong(failureOf(error).message);
      setTrying(false);
    }
  };
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void tryKey();
      }}
    >
      <TextField
        label="API key"
        type="password"
        autoComplete="off"
        value={key}
        onChange={setKey}
        wrong={wrong}
        isRequired
        autoFocus
        hint={hint}
      />
      <Button type="submit" kind={isSecondary ? 'secondary' : 'primary'} isDisabled={isTrying || key.trim() === ''}>
        Use the key
      </Button>
    </Form>
  );
}
