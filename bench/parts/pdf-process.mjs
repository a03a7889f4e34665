// Prints distinct invoices of so many lines in a process of its own and tells the processor time of the whole process.
import { decideIssue, finishIssue } from '../../dist/fiscal/issue.js';
import { price } from '../../dist/fiscal/totals.js';
import { generateSigningKey, localSigner } from '../../dist/keys/signer.js';
import { openPrint } from '../../dist/print/print.js';

const { sign } = localSigner(generateSigningKey().privatePem, 1);
const now = new Date('2026-11-20T10:00:00Z');
const goods = [
  'Consultoria',
  'Manutenção de servidores',
  'Cadeira de escritório',
  'Livro técnico',
  'Água mineral 1,5 l',
];
let head = { documentType: 'INVOICE', code: 'A2026', validationCode: 'CSDF7T5H', lastSequence: 0, lastHash: '' };

async function invoice(i, { lines: count, format }) {
  const lines = Array.from({ length: count }, (_, n) => ({
    id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    itemId: `00000000-0000-7000-9000-${String(n).padStart(12, '0')}`,
    name: `${goods[n % goods.length]} ${i}-${n}`,
    productType: n % 2 === 0 ? 'SERVICE' : 'PRODUCT',
    unit: n % 2 === 0 ? 'HOUR' : 'UNIT',
    quantity: String(1 + ((i + n) % 9)),
    unitPrice: `${10 + n}.${String(i % 100).padStart(2, '0')}`,
    vatRate: ['NORMAL', 'INTERMEDIATE', 'REDUCED'][n % 3],
    region: 'PT',
    ...(n === 3 ? { discount: { type: 'PERCENT', value: '10' } } : {}),
  }));
  const content = {
    type: 'INVOICE',
    issuer: {
      id: 'a',
      name: 'Oficina do Exemplo, Lda.',
      taxpayerNumber: '509442013',
      address: 'Rua do Ouro 1',
      postalCode: '1100-060',
      city: 'Lisboa',
      country: 'PT',
    },
    customer: {
      id: 'b',
      name: `Cliente número ${i}, S.A.`,
      taxpayerNumber: '503504564',
      address: 'Avenida da Liberdade 2',
      postalCode: '1250-140',
      city: 'Lisboa',
      country: 'PT',
    },
    cae: '62010',
    currency: 'EUR',
    notes: `Encomenda ${i}`,
    ...price({ lines, taxPoint: '2026-11-20', currency: 'EUR' }),
  };
  const decided = decideIssue({
    content,
    head,
    now,
    region: 'PT',
    notReady: [],
    certificateNumber: 9999,
    keyVersion: 1,
  });
  const { signatures } = await sign(head.lastHash, [decided.parts]);
  head = { ...decided.next, lastHash: signatures[0] };
  return {
    content: decided.content,
    issued: finishIssue(decided, signatures[0]),
    status: 'N',
    format,
    copy: 'Original',
    language: 'pt',
    environment: 'simulator',
    createdAt: now,
    region: 'PT',
    producer: { name: 'Certo' },
  };
}

process.on('message', async ({ count, warmUp, ...kind }) => {
  const print = openPrint();
  const invoices = [];
  for (let i = 0; i < warmUp + count; i++) invoices.push(await invoice(i, kind));
  for (const one of invoices.slice(0, warmUp)) await print.render(one);
  const before = process.cpuUsage();
  const from = performance.now();
  let bytes = 0;
  for (const one of invoices.slice(warmUp)) bytes += (await print.render(one)).length;
  const { user, system } = process.cpuUsage(before);
  process.send({
    cpu_ms: (user + system) / 1000 / count,
    wall_ms: (performance.now() - from) / count,
    kilobytes: bytes / count / 1000,
  });
  await print.close();
  process.disconnect();
});
