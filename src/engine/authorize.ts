/** Step 6 of the corridor: may this kind of credential do this operation at all? It says nothing about records. */
import { Refusal } from '../fiscal/refusal.ts';
import type { Principal } from '../identity/principal.ts';
import type { Operation } from '../operations/operation.ts';

/** Refuses FORBIDDEN when the operation is not open to the principal. */
export function authorize(operation: Operation, principal: Principal): void {
  if (principal.kind === 'operator') return;
  if (!operation.access.key) throw new Refusal('FORBIDDEN');
}
