import { expect, test } from 'vitest';
import { utf8 } from '../fiscal/utf8.ts';
import { Rendered, renderedOf } from './operation.ts';

test('a reply is put together when it is first asked for, once', () => {
  let made = 0;
  const rendered = new Rendered(() => {
    made += 1;
    return utf8(`{"made":${made}}`);
  });
  expect(renderedOf(rendered)).toBe(rendered);
  expect(made).toBe(0);
  expect([rendered.json(), rendered.json()]).toEqual(['{"made":1}', '{"made":1}']);
});

test('what is shown as it is becomes JSON in UTF-8, what has no value left out', () => {
  expect(renderedOf({ name: 'Conceição', notes: undefined }).json()).toBe(utf8('{"name":"Conceição"}'));
});
