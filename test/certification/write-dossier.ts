/** The dossier as a folder that can be sent: a PDF for each document, the SAF-T of all, the public key, an index page. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { indexPage, title } from './index-page.ts';
import type { Dossier } from './scenario.ts';

export const saftFile = 'SAF-T.xml';
export const keyFile = 'ChavePublica.txt';
const indexFile = 'index.html';

/** Writes all of it or nothing; replaces an earlier dossier, never a folder that is something else. */
export function writeDossier(dossier: Dossier, out: string): void {
  const folder = resolve(out);
  if (existsSync(folder) && readdirSync(folder).length > 0 && !isDossier(folder))
    throw new Error(`${folder} is not empty and holds no dossier: choose another folder`);
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  for (const { papers } of dossier.entries) for (const { file, pdf } of papers) writeFileSync(join(part, file), pdf);
  writeFileSync(join(part, saftFile), dossier.saft);
  writeFileSync(join(part, keyFile), dossier.publicPem);
  writeFileSync(join(part, indexFile), indexPage(dossier, { saftFile, keyFile }));
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
}

function isDossier(folder: string): boolean {
  const index = join(folder, indexFile);
  return existsSync(index) && readFileSync(index, 'utf8').includes(`<title>${title}`);
}
