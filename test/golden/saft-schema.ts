/** The schema of SAF-T as libxml2 judges it: the projection of the AT's XSD to XSD 1.0 (its assertions are ours to check). */
import { readFileSync } from 'node:fs';
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';

const file = new URL('../../src/fiscal/saft/fixtures/saft-pt-1.04_01-projection.xsd', import.meta.url);
let validator: XsdValidator | undefined;

function open(): XsdValidator {
  // libxml2 for WebAssembly knows no Windows-1252: handed over as text, declared as what text is.
  const text = new TextDecoder('windows-1252')
    .decode(readFileSync(file))
    .replace('encoding="Windows-1252"', 'encoding="UTF-8"');
  const xsd = XmlDocument.fromString(text);
  return XsdValidator.fromDoc(xsd);
}

/** What the schema has against a file; empty: nothing. */
export function schemaFaults(xml: string): string[] {
  validator ??= open();
  const document = XmlDocument.fromString(xml.replace('encoding="Windows-1252"', 'encoding="UTF-8"'));
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    if (!(error instanceof XmlValidateError)) throw error;
    return error.details.map(({ line, message }) => `${line}: ${message.trim()}`);
  } finally {
    document.dispose();
  }
}
