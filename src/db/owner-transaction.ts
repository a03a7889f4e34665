import type { Pool, PoolClient } from 'pg';

/** A connection of the tables' owner, who sees every company. */
export type OwnerClient = PoolClient;

/** Does some work of the operator in one transaction of the owner; what it throws undoes it. */
export async function ownerTransaction<T>(owner: Pool, work: (client: OwnerClient) => Promise<T>): Promise<T> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
