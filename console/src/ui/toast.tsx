import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';

import { failureOf } from '../api/failure';
import { Button } from './Button';

const queue = new ToastQueue<string>({ maxVisibleToasts: 3 });

/** Tells that something was done. */
export const tell = (text: string) => void queue.add(text, { timeout: 6000 });

/** Tells what went wrong. It stays until it is closed. */
export const tellFailure = (thrown: unknown) => void queue.add(failureOf(thrown).message);

/** Shows what tell and tellFailure say. */
export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          <ToastContent>
            <Text slot="title">{toast.content}</Text>
          </ToastContent>
          <Button slot="close" aria-label="Close">
            ✕
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
