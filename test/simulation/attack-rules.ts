/** What an answer on the wire has to keep, whatever was asked, and what an attack may come to. */
import type { Attack } from './attacks.ts';
import type { Heard, RawAnswer } from './raw-http.ts';

/** What is wrong with what came of an attack; `last` is the id of the request behind it. */
export function faultsIn(
  { answers: wanted, connection, ids }: Attack,
  { answers, rest, closed }: Heard,
  last: string,
): string[] {
  const told = answers.map(summary);
  const goesOn = answers.at(-1)?.headers['x-request-id'] === last;
  const own = goesOn ? answers.slice(0, -1) : answers;
  const found: string[] = [];
  if (
    own.length !== wanted.length ||
    own.some(
      (answer, i) =>
        !wanted[i]!.some(
          (may) => summary(answer) === may || (may === '4xx' && answer.status < 500 && answer.status >= 400),
        ),
    )
  )
    found.push(`was answered ${told.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`);
  if (rest.length > 0)
    found.push(`left ${rest.length} bytes that are no answer: ${rest.subarray(0, 200).toString('latin1')}`);
  if (ids?.some((id, i) => own[i]?.headers['x-request-id'] !== id)) found.push('was answered in another order');
  if (!goesOn && !closed) found.push(`was not hung up on after ${told.join(', ')}`);
  if (connection === 'kept' && !goesOn) found.push('cost the connection');
  if (connection === 'closed' && goesOn) found.push('did not cost the connection');
  return [...found, ...answers.flatMap(malformed)];
}

const summary = (answer: RawAnswer): string =>
  answer.status < 400 ? String(answer.status) : `${answer.status} ${String(problemOf(answer)?.['code'])}`;

function problemOf({ headers, body }: RawAnswer): Record<string, unknown> | undefined {
  return headers['content-type']?.startsWith('application/problem+json') === true && body.length > 0
    ? JSON.parse(body.toString())
    : undefined;
}

/** What is wrong with an answer, whatever was asked (contract decisions 1). */
function malformed(answer: RawAnswer): string[] {
  const { status, headers } = answer;
  const found: string[] = [];
  if (!/^[\x20-\x7e]{1,128}$/.test(headers['x-request-id'] ?? '')) found.push(`${status} has no X-Request-Id`);
  if ('set-cookie' in headers) found.push(`${status} sets a cookie`);
  if (status < 400) return found;
  const problem = problemOf(answer);
  if (problem === undefined) return [...found, `${status} is no problem: ${answer.body.subarray(0, 200)}`];
  const { type, title, detail, instance, code, requestId, message, statusCode } = problem;
  const texts = [type, title, detail, instance, code, requestId, message].every((text) => typeof text === 'string');
  const mirrored =
    message === detail &&
    statusCode === status &&
    problem['status'] === status &&
    requestId === headers['x-request-id'];
  if (!texts || !mirrored) found.push(`${status} is a problem without some member: ${JSON.stringify(problem)}`);
  return found;
}
