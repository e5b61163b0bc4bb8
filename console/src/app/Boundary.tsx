import { Component, type ReactNode } from 'react';

import { Button } from '../ui/Button';
import { Page } from '../ui/Page';

/** Shows a page that failed as failed, and leaves the rest of the console as it is. */
export class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    // Another version of the console may have been installed since this one was loaded.
    const isGone = /dynamically imported|module script/i.test(error.message);
    return (
      <Page title={isGone ? 'The console was updated' : 'This page failed'}>
        <p>{isGone ? 'Load it again to go on.' : error.message}</p>
        <div>
          <Button kind="primary" onPress={() => location.reload()}>
            Load again
          </Button>
        </div>
      </Page>
    );
  }
}
