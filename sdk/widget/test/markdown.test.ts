import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown, plainText, safeUrl } from '../src/markdown.js';

test('paragraphs, lists, code, bold and links', () => {
  const text = '# Hours\nWe open at **nine**.\n\n- one\n- `two`\n\n3. three\n4. four\n\n```js\n<b>\n```\nSee [us](https://example.org).';
  assert.deepEqual(parseMarkdown(text), [
    {
      kind: 'paragraph',
      lines: [
        [{ kind: 'bold', text: 'Hours' }],
        [{ kind: 'text', text: 'We open at ' }, { kind: 'bold', text: 'nine' }, { kind: 'text', text: '.' }],
      ],
    },
    { kind: 'list', isOrdered: false, start: 1, items: [[{ kind: 'text', text: 'one' }], [{ kind: 'code', text: 'two' }]] },
    { kind: 'list', isOrdered: true, start: 3, items: [[{ kind: 'text', text: 'three' }], [{ kind: 'text', text: 'four' }]] },
    { kind: 'code', text: '<b>' },
    {
      kind: 'paragraph',
      lines: [
        [
          { kind: 'text', text: 'See ' },
          { kind: 'link', text: 'us', url: 'https://example.org/' },
          { kind: 'text', text: '.' },
        ],
      ],
    },
  ]);
});

test('a text that is not complete yet', () => {
  assert.deepEqual(parseMarkdown('```js\nlet a'), [{ kind: 'code', text: 'let a' }]);
  assert.equal(plainText('We **open'), 'We **open');
  assert.deepEqual(parseMarkdown(''), []);
});

test('a text of nothing but marks is shown', () => {
  const fences = `${'`'.repeat(9_900)}x`;
  const [text, ...others] = parseMarkdown(fences);
  assert.deepEqual(text, { kind: 'paragraph', lines: [[{ kind: 'text', text: fences }]] });
  assert.deepEqual(others, []);
  for (const marks of ['```', '```\n```', '```js\n\n```', '```one``` and\ntwo', '#  ']) {
    const shown = plainText(marks);
    for (const word of marks.match(/\w+|#/g) ?? ['```']) assert.ok(shown.includes(word), marks);
  }
});

test('only http, https and mailto are links', () => {
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'JAVASCRIPT:1', '//evil.example', '/path', 'vbscript:x', 'file:///x'])
    assert.deepEqual(parseMarkdown(`[a](${url})`), [{ kind: 'paragraph', lines: [[{ kind: 'text', text: `[a](${url})` }]] }]);
  assert.equal(safeUrl('mailto:a@example.org'), 'mailto:a@example.org');
});

test('a hostile text of many openings is text', () => {
  for (const part of ['[', '](']) {
    const text = `a${part}`.repeat(3_000);
    assert.ok(plainText(text) === text, part);
  }
});
