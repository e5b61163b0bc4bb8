import type { ReactNode } from 'react';

import { Button } from './Button';
import { FailureNote } from './Page';

interface Props {
  /** The request that the form sends. */
  of: { error: unknown; isPending: boolean };
  /** The button's text: what is done. */
  children: ReactNode;
  onClose(): void;
  /** Sends it; without it the button submits the form around it. */
  onPress?(): void;
  /** True while something that it needs is missing. */
  isDisabled?: boolean;
  kind?: 'primary' | 'danger';
  /** Shown instead of the usual words about the error. */
  failure?: ReactNode;
}

/** The end of a form in a dialog: what went wrong, Cancel, and the button that sends it. */
export function FormFoot({ of, children, onClose, onPress, isDisabled, kind = 'primary', failure }: Props) {
  return (
    <>
      {failure ?? (of.error !== null && <FailureNote error={of.error} />)}
      <div className="row end">
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind={kind}
          type={onPress ? 'button' : 'submit'}
          isDisabled={of.isPending || isDisabled}
          onPress={onPress}
        >
          {children}
        </Button>
      </div>
    </>
  );
}
