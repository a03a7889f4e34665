/** Signed files: the PDF renditions and QR images that replies link to. No credential, no cookie; the link is all. */
import type { FastifyInstance } from 'fastify';
import type { Corridor } from '../../engine/execute.ts';
import { guarded } from '../../engine/guarded.ts';
import { isUuid } from '../../fiscal/identifiers.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { entryOfLink } from '../../identity/principal.ts';
import { checkFileLink } from '../../operations/links.ts';
import { printedFile, readFile } from '../../operations/rendition.ts';
import { qrSvg } from '../../print/qr.ts';
import type { Untaken } from './untaken.ts';

interface FileParams {
  companyId: string;
  documentId: string;
  variant: string;
}

/**
 * GET /files/:companyId/:documentId/:variant. A forged link is the same FILE_NOT_FOUND as a file that is not there;
 * one that is over is LINK_EXPIRED.
 */
export function addFiles(app: FastifyInstance, corridor: Corridor, untaken: Untaken): void {
  app.get<{ Params: FileParams; Querystring: { expires?: string; signature?: string } }>(
    '/files/:companyId/:documentId/:variant',
    { schema: { hide: true } },
    async (request, reply) => {
      const file = request.params;
      if (!isUuid(file.companyId) || !isUuid(file.documentId)) throw new Refusal('FILE_NOT_FOUND');
      const { expires, signature } = request.query;
      const given = { expires: String(expires), signature: String(signature) };
      // The signature first: an address nobody was given must not reach the database.
      checkFileLink(corridor.world, file, given, new Date(0));
      const { network } = request.exchange;
      untaken.check(network, 1);
      const tx = corridor.db.read(entryOfLink(file.companyId));
      const row = await guarded(() => readFile(tx, file.documentId, file.variant, new Date(Number(given.expires))));
      if (row === undefined) throw new Refusal('FILE_NOT_FOUND');
      checkFileLink(corridor.world, file, given, row['now'] as Date);
      const name = String(row['number']).replace(/[^A-Za-z0-9._-]+/g, '-');
      reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      if (file.variant === 'qr') {
        if (row['qr'] === null) throw new Refusal('FILE_NOT_FOUND');
        return reply
          .type('image/svg+xml')
          .header('content-disposition', `attachment; filename="${name}-qr.svg"`)
          .send(qrSvg(String(row['qr'])));
      }
      if (row['bytes'] === null) throw new Refusal('FILE_NOT_FOUND');
      const bytes = printedFile(row, corridor.world);
      untaken.check(network, bytes.length);
      reply.type('application/pdf').header('content-disposition', `attachment; filename="${name}.pdf"`).send(bytes);
      untaken.watch(reply.raw, network, bytes.length);
      return reply;
    },
  );
}
