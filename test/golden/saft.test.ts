/** The whole text of a small file, to be looked at when it changes. Signatures are of a key made for the run: left out. */
import { expect, test } from 'vitest';
import { writeSaft } from '../../src/fiscal/saft/write.ts';
import { everything, sourceOf, textOf } from './saft-samples.ts';
import { schemaFaults } from './saft-schema.ts';

test('a document of every kind, in every state', async () => {
  const { documents } = await everything();
  const xml = await textOf(writeSaft(sourceOf(documents)));
  expect(schemaFaults(xml)).toEqual([]);
  const masked = xml.replace(/<Hash>[A-Za-z0-9+/]{171}=<\/Hash>/g, '<Hash>172 characters</Hash>');
  expect(masked.match(/172 characters/g)).toHaveLength(documents.filter(({ issued }) => issued.hash !== '').length);
  await expect(masked).toMatchFileSnapshot('saft-everything.xml');
});
