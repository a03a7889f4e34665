/** New companies beside a running service, ready to issue: made through the program's own functions, told to its simulator. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { simulatorGateway } from '../../../src/commands/authority.ts';
import { masterKeyFile, openMasterKey } from '../../../src/commands/master-key.ts';
import { readPlace, simulatorUrl } from '../../../src/commands/simulator-ports.ts';
import { readConfig } from '../../../src/config.ts';
import { openDb } from '../../../src/db/open.ts';
import { type DocumentType, documentTypes } from '../../../src/fiscal/document.ts';
import { createApiKey } from '../../../src/identity/api-keys.ts';
import { entryOfCompany } from '../../../src/identity/principal.ts';
import { createCompany, setAtCredentials } from '../../../src/operations/company/create-company.ts';
import { registerSeries, syncSeries } from '../../../src/operations/series/registration.ts';
import type { Ground } from '../ground.ts';

export interface Founder {
  /** The API key of one more company. */
  found(): Promise<string>;
  close(): Promise<void>;
}

export async function openFounder(ground: Ground): Promise<Founder> {
  const simulator = join(ground.directory, 'simulator');
  const place = await readPlace(simulator);
  if (place === undefined) throw new Error('the simulator of this ground does not run');
  const at = await simulatorGateway(readConfig({}), simulator, simulatorUrl(place));
  const master = await openMasterKey(masterKeyFile(undefined, ground.directory), ground.owner);
  const db = await openDb({ connection: ground.connection, max: 4, applicationName: 'founder' });
  const world = { db, at, master, newId: uuidv7, certificateNumber: 9999 };
  let founded = 0;
  return {
    async found() {
      founded += 1;
      const taxpayerNumber = nif(`51${String(founded).padStart(6, '0')}`);
      const address = { address: 'Rua do Acaso, 1', postalCode: '1000-001', city: 'Lisboa' };
      const facts = { name: `Acaso ${founded}, Lda`, taxpayerNumber, cae: ['62010', '46900'], ...address };
      const id = await createCompany(ground.owner, { ...facts, region: founded % 3 === 0 ? 'PT-MA' : 'PT' }, uuidv7);
      await setAtCredentials(ground.owner, master, id, { username: `${taxpayerNumber}/1`, password: 'acaso' });
      for (const documentType of Object.keys(documentTypes) as DocumentType[])
        await registerSeries(world, id, { documentType, code: 'ACASO' });
      const synced = await syncSeries(world, id);
      if (synced !== 'ok') throw new Error(`a new company could not be compared with the simulator: ${synced}`);
      const key = { id: uuidv7(), name: 'acaso', random: randomBytes(32) };
      return db.transact(entryOfCompany(id, 'simulation'), (tx) => createApiKey(tx, key));
    },
    async close() {
      at.close();
      await db.close();
    },
  };
}

/** Eight digits and their check digit. */
function nif(digits: string): string {
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (9 - i), 0);
  return `${digits}${sum % 11 < 2 ? 0 : 11 - (sum % 11)}`;
}
