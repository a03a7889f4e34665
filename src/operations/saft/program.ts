/** Who wrote a SAF-T file, and what is to be said about where its documents were told to. */
import type { AtMode } from '../../at/gateway.ts';
import { finalConsumerNif } from '../../fiscal/nif.ts';
import type { SaftProgram } from '../../fiscal/saft/source.ts';
import type { Producer } from '../../print/input.ts';

/** 1 to 200 characters, no slash: it stands behind one in ProductID. */
export const producerForm = /^[^/]{1,200}$/;

/** Without a NIF (only outside production) the program is nobody's in particular. */
export function programOf(by: {
  readonly producer: string;
  readonly producerNif: string | undefined;
  readonly version: string;
  readonly certificateNumber: number;
}): SaftProgram {
  return {
    producerTaxId: by.producerNif ?? finalConsumerNif,
    productId: `Certo/${by.producer}`,
    version: by.version,
    certificateNumber: by.certificateNumber,
  };
}

/** The producer as paper names it. */
export function producerOf({ productId, producerTaxId }: SaftProgram): Producer {
  const name = productId.slice(productId.indexOf('/') + 1);
  return { name, taxpayerNumber: producerTaxId === finalConsumerNif ? undefined : producerTaxId };
}

/** HeaderComment: that documents outside production have no fiscal value. */
export function commentOf(mode: AtMode): string | undefined {
  return mode === 'production' ? undefined : `Documentos sem valor fiscal (ambiente da AT: ${mode})`;
}
