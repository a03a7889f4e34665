/** What commands need that speak to the tax authority for a company. */
import { uuidv7 } from 'uuidv7';
import type { SeriesWorld } from '../operations/series/registration.ts';
import { connectAuthority } from './connect-authority.ts';
import { openGuestDb } from './guest.ts';
import type { House } from './house.ts';
import { bindMode } from './installation.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Outside, remark } from './outside.ts';

export interface ConnectedSeries extends SeriesWorld {
  /** Resolves when the authority can be called; starts the simulator if need be. */
  readonly up: () => Promise<void>;
}

/** Binds the database to its mode: what comes from one authority must not be taken for another's. */
export async function connectSeries(outside: Outside, house: House): Promise<ConnectedSeries> {
  const { config, owner, directory } = house;
  await bindMode(owner, config.atMode);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, directory), owner);
  const authority = await connectAuthority(outside, house, (line) => remark(outside, line));
  const db = await openGuestDb(outside, house);
  return {
    db,
    at: authority.at,
    master,
    newId: uuidv7,
    certificateNumber: config.certificateNumber,
    up: () => authority.up(),
  };
}
