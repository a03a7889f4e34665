// What every request passes: the API key, and the idempotency key of a write.
import { createHash } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import { ApiKey, Company, IdempotencyKey } from './models.mjs';

/** A "no" with its status. */
export class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const sha256 = (text) => createHash('sha256').update(text).digest('hex');

export async function authenticate(request, _response, next) {
  const key = request.get('x-api-key');
  if (key === undefined) throw new HttpError(401, 'An API key is needed.');
  const found = await ApiKey.findOne({ where: { hash: sha256(key) }, include: Company });
  if (found === null) throw new HttpError(401, 'The API key is not known.');
  request.company = found.company;
  request.actor = found.id;
  next();
}

/** The same key answers as the first time; the work itself records its answer in its own transaction. */
export async function idempotent(request, response, next) {
  const key = request.get('idempotency-key');
  if (key === undefined) return next();
  const companyId = request.company.id;
  const fingerprint = sha256(JSON.stringify([request.method, request.originalUrl, request.body]));
  try {
    request.claim = await IdempotencyKey.create({ companyId, key, fingerprint });
    return next();
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error;
  }
  const before = await IdempotencyKey.findOne({ where: { companyId, key } });
  if (before?.fingerprint !== fingerprint) throw new HttpError(422, 'The key was used for another request.');
  if (before.status === null) throw new HttpError(409, 'The first request with this key is not over.');
  response.status(before.status).json(before.response);
}

/** Records the answer with the work. */
export async function recordAnswer(request, status, answer, transaction) {
  await request.claim?.update({ status, response: answer }, { transaction });
}

/** The last in line: a "no" as JSON, and the key free again. */
export async function refuse(error, request, response, _next) {
  await request.claim?.destroy();
  const status = error.status ?? 500;
  if (status === 500) console.error(error);
  response.status(status).json({ error: status === 500 ? 'Something went wrong.' : error.message });
}
