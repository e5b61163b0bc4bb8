import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containsKey } from '../src/keys.js';
import { en, fill, languageOf, stringsOf } from '../src/strings.js';

const key = 'prl_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp14BEda6';

test('API keys are found, and tokens of sessions are none', () => {
  assert.equal(containsKey(`{"api_key":"${key}"}`), true);
  assert.equal(containsKey('wss://example.org/v1/realtime/chat/ses_1?token=eyJh.eyJp.sig'), false);
  assert.equal(containsKey(`token=eyJh.eyJp.a${key}`), false);
  assert.equal(containsKey('prl_short'), false);
});

test('each language has each text, with its name', () => {
  for (const language of ['de', 'fr', 'es', 'it', 'pt', 'nl']) {
    const strings = stringsOf(`${language}-XX`);
    assert.equal(languageOf(language), language);
    for (const [name, text] of Object.entries(en)) {
      const translated = strings[name as keyof typeof en];
      assert.ok(translated, `${language} ${name}`);
      assert.equal(translated.includes('{name}'), text.includes('{name}'), `${language} ${name}`);
    }
  }
  assert.equal(stringsOf('ja'), en);
  assert.equal(fill('Hello {name}', '$&'), 'Hello $&');
});
