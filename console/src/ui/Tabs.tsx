import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components/Tabs';

export interface TabDef {
  id: string;
  title: string;
  content: ReactNode;
}

/** Parts of which one is shown. Which one can be kept in the address by the two optional properties. */
export function Tabs({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string;
  tabs: TabDef[];
  selected?: string;
  onSelect?(id: string): void;
}) {
  return (
    <AriaTabs className="tabs" selectedKey={selected} onSelectionChange={(key) => onSelect?.(String(key))}>
      <TabList aria-label={label} className="tab-list" items={tabs}>
        {({ id, title }) => (
          <Tab id={id} className="tab">
            {title}
          </Tab>
        )}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id}>
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
