import type { ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';

import { Button } from './Button';

export interface Action {
  id: string;
  text: string;
  danger?: boolean;
  isDisabled?: boolean;
  run(): void;
}

/** A button that opens a list of things to do. */
export function Menu({ label, children = '⋯', actions }: { label: string; children?: ReactNode; actions: Action[] }) {
  return (
    <MenuTrigger>
      <Button aria-label={label} icon>
        {children}
      </Button>
      <Popover className="popover" placement="bottom end">
        <AriaMenu items={actions} onAction={(id) => actions.find((action) => action.id === id)?.run()}>
          {({ id, text, danger, isDisabled }) => (
            <MenuItem id={id} isDisabled={isDisabled} className={`choice ${danger ? 'danger' : ''}`}>
              {text}
            </MenuItem>
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
