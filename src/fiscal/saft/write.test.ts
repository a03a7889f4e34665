import { readFileSync, writeFileSync } from 'node:fs';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import { everything, sourceOf, textOf } from '../../../test/golden/saft-samples.ts';
import { writeSaft } from './write.ts';

test('x', async () => {
  const { documents } = await everything();
  const xml = await textOf(writeSaft(sourceOf(documents)));
  const xsd = new TextDecoder('windows-1252').decode(
    readFileSync(new URL('./fixtures/saft-pt-1.04_01-projection.xsd', import.meta.url)),
  );
  const v = XsdValidator.fromDoc(XmlDocument.fromString(xsd.replace('Windows-1252', 'UTF-8')));
  writeFileSync('/tmp/saft/all.xml', xml);
  v.validate(XmlDocument.fromString(xml));
});
