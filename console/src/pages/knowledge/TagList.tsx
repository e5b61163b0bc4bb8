import { Badge } from '../../ui/Page';

/** Tags as they are typed: "faq, lang:de". */
export const parseTags = (text: string) => [...new Set(text.split(/[,\s]+/).filter(Boolean))];

/** Tags as badges. */
export const TagList = ({ tags }: { tags: string[] }) => (
  <span className="row" style={{ gap: 4 }}>
    {tags.map((tag) => (
      <Badge key={tag}>{tag}</Badge>
    ))}
  </span>
);
