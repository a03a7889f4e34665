/** What `demo` printed, remembered beside the data: the only place where the demo's keys stand in clear (mode 0600). */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readOwnFile, writeAside } from '../db/data-directory.ts';
import type { DocumentType, VatRate } from '../fiscal/document.ts';

export interface DemoCompany {
  readonly id: string;
  readonly name: string;
  readonly taxpayerNumber: string;
  readonly cae: readonly string[];
  readonly apiKey: string;
  readonly series: Readonly<Record<DocumentType, string>>;
  /** A business with NIF, a private person without. */
  readonly customers: readonly string[];
  /** One per VAT rate, each at most 40.00. */
  readonly items: Readonly<Record<VatRate, string>>;
}

/** Companies of the demo: A and B on the mainland, Z in the Azores. */
export const letters = ['A', 'B', 'Z'] as const;
export type Letter = (typeof letters)[number];

export interface Demo {
  /** Null: none runs, and it is to take any free port. */
  readonly baseUrl: string | null;
  readonly simulator: { readonly control: string | null };
  readonly companies: Partial<Record<Letter, DemoCompany>>;
}

const file = (directory: string): string => join(directory, 'demo.json');

/** Undefined when there never was a demo here. */
export async function readDemo(directory: string): Promise<Demo | undefined> {
  try {
    const demo = JSON.parse(await readOwnFile(file(directory))) as Demo;
    return typeof demo.companies === 'object' && demo.companies !== null ? demo : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whole or not at all, under the name that the last one had. */
export async function writeDemo(directory: string, demo: Demo): Promise<void> {
  await writeAside(file(directory), `${JSON.stringify(demo, undefined, 2)}\n`, rename);
}
