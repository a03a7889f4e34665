/**
 * Download links: signed with an HMAC under the master key, valid for ten minutes (contract decisions 3, PDF). A link opens
 * exactly one file of one document; it needs no credential, so it says nothing but what its holder was given.
 */
import { timingSafeEqual } from 'node:crypto';
import { Refusal } from '../fiscal/refusal.ts';
import { utf8 } from '../fiscal/utf8.ts';
import type { World } from './world.ts';

const valid_milliseconds = 10 * 60 * 1000;

export interface FileAddress {
  readonly companyId: string;
  readonly documentId: string;
  /** "qr" or the variant of a rendition. */
  readonly variant: string;
}

/** The address of a file, valid until ten minutes after `now`. */
export function fileLink(world: Pick<World, 'master' | 'baseUrl'>, file: FileAddress, now: Date): string {
  const expires = String(now.getTime() + valid_milliseconds);
  // Base64url, digits and ids need no escaping in an address.
  const place = `${file.companyId}/${file.documentId}/${encodeURIComponent(file.variant)}`;
  return `${world.baseUrl}/files/${place}?expires=${expires}&signature=${signatureOf(world, file, expires)}`;
}

/** Wrong signature: FILE_NOT_FOUND, so that nothing can be probed. Right but late: LINK_EXPIRED. */
export function checkFileLink(
  world: Pick<World, 'master'>,
  file: FileAddress,
  given: { readonly expires: string; readonly signature: string },
  now: Date,
): void {
  const expected = Buffer.from(signatureOf(world, file, given.expires));
  const signature = Buffer.from(given.signature);
  if (expected.length !== signature.length || !timingSafeEqual(expected, signature)) {
    throw new Refusal('FILE_NOT_FOUND');
  }
  if (now.getTime() >= Number(given.expires)) throw new Refusal('LINK_EXPIRED');
}

/** Over the instant as it is written: `1795816581691.0` would be the same one. */
function signatureOf(world: Pick<World, 'master'>, file: FileAddress, expires: string): string {
  return world.master
    .mac('links', utf8(`${file.companyId}\n${file.documentId}\n${file.variant}\n${expires}`))
    .toString('base64url');
}
