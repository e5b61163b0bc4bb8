import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  type FormEvent,
  type ReactNode,
} from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';

import { askBeforeLeaving, type Unsaved } from '../app/location';
import { Button } from './Button';

interface Props {
  title: string;
  children: ReactNode;
  onClose(): void;
  /** wide: for tables; side: at the side, full height. */
  shape?: 'wide' | 'side';
  role?: 'dialog' | 'alertdialog';
  /** What is asked before it closes otherwise than by a button of its content. */
  ask?: Question | undefined;
  /** It closes by the buttons of its content only. */
  hasNoClose?: boolean;
}

const notText = ['search', 'checkbox', 'radio', 'range'];

const discard: Question = {
  title: 'Discard what you typed?',
  text: 'What you typed in this form is not sent yet. It will be gone.',
  action: 'Discard',
};

/**
 * A dialog over the page. It is open while it is rendered. A click outside closes it, unless
 * something was typed in it; then Escape and ✕ ask.
 */
export function Dialog({ title, children, onClose, shape, role, ask, hasNoClose }: Props) {
  const confirm = useConfirm();
  const isTyped = useRef(false);
  const type = (event: FormEvent) => {
    if (!notText.includes((event.target as HTMLInputElement).type)) isTyped.current = true;
  };
  const question = () => ask ?? (isTyped.current ? discard : undefined);
  const close = async () => {
    const asked = question();
    if (hasNoClose || (asked && !(await confirm(asked)))) return;
    onClose();
  };
  const leave = useRef<Unsaved>(undefined);
  leave.current = {
    is: () => !hasNoClose && question() !== undefined,
    async mayLeave() {
      const asked = question();
      if (asked && !(await confirm(asked))) return false;
      isTyped.current = false;
      onClose();
      return true;
    },
  };
  useEffect(
    () =>
      askBeforeLeaving({
        is: () => leave.current?.is() ?? false,
        mayLeave: async () => leave.current?.mayLeave() ?? true,
      }),
    [],
  );
  return (
    <ModalOverlay
      isOpen
      isDismissable={role !== 'alertdialog'}
      isKeyboardDismissDisabled={hasNoClose}
      shouldCloseOnInteractOutside={() => !question()}
      onOpenChange={(isOpen) => !isOpen && void close()}
      className={`overlay ${shape ?? ''}`}
    >
      <Modal className={`dialog ${shape ?? ''}`}>
        <AriaDialog role={role}>
          <div className="row between">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {!hasNoClose && (
              <Button kind="quiet" icon aria-label="Close" onPress={() => void close()}>
                ✕
              </Button>
            )}
          </div>
          <div style={{ display: 'contents' }} onInput={type}>
            {children}
          </div>
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
