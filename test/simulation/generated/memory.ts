/** What a caller has learned from the answers so far: ids by kind, revisions, lines, values by the name of their field. */
import type { Chance } from '../chance.ts';
import type { Described } from './description.ts';

export interface Known {
  readonly id: string;
  updatedAt?: string | undefined;
  /** Ids of its lines. */
  lines: readonly string[];
}

export class Memory {
  readonly #records = new Map<string, Known[]>();
  readonly #values = new Map<string, string[]>();

  /** Reads an answer that was a success. */
  learn({ collection }: Described, reply: unknown): void {
    for (const record of Array.isArray(reply) ? reply : [reply]) this.#record(collection, record);
  }

  #record(collection: string, record: unknown): void {
    if (record === null || typeof record !== 'object') return;
    const { id, updatedAt, deleted, isArchived, items, cae } = record as Record<string, unknown>;
    // Codes are listed with commas between them.
    if (typeof cae === 'string' && !this.#values.has('cae')) this.#values.set('cae', cae.split(/,\s*/));
    if (typeof id !== 'string') return;
    if (deleted === true || isArchived === true) {
      this.forget(collection, id);
      return;
    }
    const records = this.#records.get(collection) ?? [];
    this.#records.set(collection, records);
    const at = records.findIndex((known) => known.id === id);
    const known: Known = at < 0 ? { id, lines: [] } : records.splice(at, 1)[0]!;
    if (typeof updatedAt === 'string') known.updatedAt = updatedAt;
    if (Array.isArray(items)) known.lines = items.map((item) => String((item as Record<string, unknown>)['id']));
    // The one that was touched last stands last.
    records.push(known);
  }

  forget(collection: string, id: string): void {
    const left = this.#records.get(collection)?.filter((known) => known.id !== id);
    if (left !== undefined) this.#records.set(collection, left);
  }

  /** One of a kind, rather a late one. */
  pick(collection: string, chance: Chance): Known | undefined {
    const records = this.#records.get(collection) ?? [];
    return chance.next() < 0.6 ? records.at(-1) : records[chance.whole(0, records.length - 1)];
  }

  find(id: string): Known | undefined {
    return [...this.#records.values()].flat().find((known) => known.id === id);
  }

  values(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  collections(): string[] {
    return [...this.#records].filter(([, records]) => records.length > 0).map(([name]) => name);
  }
}
