import { createContext, useCallback, useContext, useState, type ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';

import { Button } from './Button';

interface Props {
  title: string;
  children: ReactNode;
  onClose(): void;
  /** wide: for tables; side: at the side, full height. */
  shape?: 'wide' | 'side';
  role?: 'dialog' | 'alertdialog';
}

/** A dialog over the page. It is open while it is rendered. */
export function Dialog({ title, children, onClose, shape, role }: Props) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={role !== 'alertdialog'}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={`overlay ${shape ?? ''}`}
    >
      <Modal className={`dialog ${shape ?? ''}`}>
        <AriaDialog role={role}>
          <div className="row between">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button kind="quiet" icon aria-label="Close" onPress={onClose}>
              ✕
            </Button>
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** What is asked before something is done that cannot be undone. */
export interface Question {
  title: string;
  /** What will be gone, in a sentence. */
  text: ReactNode;
  /** The button's text: what is done. */
  action: string;
}

const Confirming = createContext<(question: Question) => Promise<boolean>>(() => Promise.resolve(false));

/** A function that asks, and tells whether to go on. */
export const useConfirm = () => useContext(Confirming);

/** Shows the questions of useConfirm. */
export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ question: Question; answer(yes: boolean): void }>();
  const ask = useCallback((question: Question) => new Promise<boolean>((answer) => setAsked({ question, answer })), []);
  const answer = (yes: boolean) => {
    asked?.answer(yes);
    setAsked(undefined);
  };
  return (
    <Confirming value={ask}>
      {children}
      {asked && (
        <Dialog role="alertdialog" title={asked.question.title} onClose={() => answer(false)}>
          <p>{asked.question.text}</p>
          <div className="row end">
            <Button autoFocus onPress={() => answer(false)}>
              Cancel
            </Button>
            <Button kind="danger" onPress={() => answer(true)}>
              {asked.question.action}
            </Button>
          </div>
        </Dialog>
      )}
    </Confirming>
  );
}
