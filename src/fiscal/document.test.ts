import { expect, test } from 'vitest';
import { documentTypes } from './document.ts';

test('each type as the reference has it: code, class, title, side, and whether it is signed', () => {
  const told = Object.entries(documentTypes).map(([type, { code, atClass, family, title, side, signed }]) =>
    [type, code, atClass, family, title, side, signed ? 'signed' : 'unsigned'].join(' | '),
  );
  expect(told).toEqual([
    'INVOICE | FT | SI | SALES | Fatura | CREDIT | signed',
    'SIMPLIFIED_INVOICE | FS | SI | SALES | Fatura simplificada | CREDIT | signed',
    'INVOICE_RECEIPT | FR | SI | SALES | Fatura-recibo | CREDIT | signed',
    'DEBIT_NOTE | ND | SI | SALES | Nota de débito | CREDIT | signed',
    'CREDIT_NOTE | NC | SI | SALES | Nota de crédito | DEBIT | signed',
    'RECEIPT | RG | PY | RECEIPT | Recibo | CREDIT | unsigned',
    'PROFORMA | PF | WD | PROFORMA | Fatura pró-forma | CREDIT | signed',
    'GUIA_DE_REMESSA | GR | MG | TRANSPORT | Guia de remessa | CREDIT | signed',
    'GUIA_DE_TRANSPORTE | GT | MG | TRANSPORT | Guia de transporte | CREDIT | signed',
    'GUIA_DE_ATIVOS_PROPRIOS | GA | MG | TRANSPORT | Guia de movimentação de ativos fixos próprios | CREDIT | signed',
    'GUIA_DE_CONSIGNACAO | GC | MG | TRANSPORT | Guia de consignação | CREDIT | signed',
    'GUIA_DE_DEVOLUCAO | GD | MG | TRANSPORT | Guia de devolução | CREDIT | signed',
  ]);
});
