// Two routes: a draft with its lines, and its issue under the lock of the series.
import { Router } from 'express';
import { AuditEntry, Customer, Invoice, InvoiceLine, Item, Series, sequelize } from './models.mjs';
import { HttpError, recordAnswer } from './requests.mjs';
import { euros, sign } from './signing.mjs';

export const invoices = Router();

invoices.post('/', async (request, response) => {
  const { company } = request;
  const asked = readDraft(request.body);
  const answer = await sequelize.transaction(async (transaction) => {
    const customer = await Customer.findOne({ where: { id: asked.customerId, companyId: company.id }, transaction });
    if (customer === null) throw new HttpError(400, 'There is no such customer.');
    const lines = priceLines(asked.items, await findItems(asked.items, company.id, transaction));
    const invoice = await Invoice.create(
      {
        companyId: company.id,
        customerId: customer.id,
        customerName: customer.name,
        customerTaxpayerNumber: customer.taxpayerNumber,
        cae: asked.cae,
        notes: asked.notes,
        ...totals(lines),
      },
      { transaction },
    );
    await InvoiceLine.bulkCreate(
      lines.map((line) => ({ ...line, invoiceId: invoice.id })),
      { transaction },
    );
    const made = show(invoice, lines, company);
    await audit(request, 'createDraft', invoice.id, transaction);
    await recordAnswer(request, 201, made, transaction);
    return made;
  });
  response.status(201).json(answer);
});

invoices.post('/:id/issue', async (request, response) => {
  const { company } = request;
  const { expectedUpdatedAt } = request.body ?? {};
  if (typeof expectedUpdatedAt !== 'string') throw new HttpError(400, 'expectedUpdatedAt is missing.');
  const answer = await sequelize.transaction(async (transaction) => {
    const where = { id: request.params.id, companyId: company.id };
    const invoice = await Invoice.findOne({ where, transaction, lock: transaction.LOCK.UPDATE });
    if (invoice === null) throw new HttpError(404, 'There is no such invoice.');
    if (invoice.status !== 'DRAFT') throw new HttpError(400, 'It is issued already.');
    if (invoice.updatedAt.toISOString() !== expectedUpdatedAt) throw new HttpError(409, 'The draft has changed.');
    const lines = await InvoiceLine.findAll({ where: { invoiceId: invoice.id }, order: ['position'], transaction });
    // The lock of the series comes last: everybody waits for it.
    const series = await Series.findOne({
      where: { companyId: company.id },
      transaction,
      lock: transaction.LOCK.UPDATE,
    });
    await number(invoice, series, company, transaction);
    const issued = show(invoice, lines, company);
    await audit(request, 'issueInvoice', invoice.id, transaction);
    await recordAnswer(request, 200, issued, transaction);
    return issued;
  });
  response.json(answer);
});

/** Number, signature, ATCUD and QR message, together with the head of the series. */
async function number(invoice, series, company, transaction) {
  const now = new Date();
  const sequence = series.lastNumber + 1;
  const stamp = {
    date: now.toISOString().slice(0, 10),
    systemEntry: now.toISOString().slice(0, 19),
    number: `FT ${series.code}/${sequence}`,
  };
  const hash = sign({ ...stamp, total: invoice.total }, series.lastHash);
  const atcud = `${series.validationCode}-${sequence}`;
  const qr = qrMessage({ company, invoice, ...stamp, atcud, hash });
  await invoice.update(
    { ...stamp, status: 'ISSUED', seriesId: series.id, sequence, hash, atcud, qr, issuedAt: now },
    { transaction },
  );
  await series.update({ lastNumber: sequence, lastHash: hash }, { transaction });
}

function readDraft(body) {
  const { type, cae, customerId, items, notes } = body ?? {};
  if (type !== 'INVOICE') throw new HttpError(400, 'type must be INVOICE.');
  if (typeof cae !== 'string') throw new HttpError(400, 'cae is missing.');
  if (typeof customerId !== 'string') throw new HttpError(400, 'customerId is missing.');
  if (!Array.isArray(items) || items.length === 0) throw new HttpError(400, 'items are missing.');
  for (const { id, quantity } of items) {
    if (typeof id !== 'string' || !(quantity > 0)) throw new HttpError(400, 'An item needs id and quantity.');
  }
  return { cae, customerId, items, notes };
}

async function findItems(asked, companyId, transaction) {
  const found = await Item.findAll({ where: { id: asked.map(({ id }) => id), companyId }, transaction });
  return new Map(found.map((item) => [item.id, item]));
}

function priceLines(asked, items) {
  return asked.map(({ id, quantity }, position) => {
    const item = items.get(id);
    if (item === undefined) throw new HttpError(400, 'There is no such item.');
    const net = Math.round(quantity * item.unitPrice);
    const tax = Math.round((net * item.vatPercent) / 100);
    const { name, unitPrice, vatPercent } = item;
    return { itemId: id, position, name, quantity, unitPrice, vatPercent, net, tax };
  });
}

function totals(lines) {
  const net = lines.reduce((sum, line) => sum + line.net, 0);
  const tax = lines.reduce((sum, line) => sum + line.tax, 0);
  return { net, tax, total: net + tax };
}

async function audit({ company, actor }, operation, recordId, transaction) {
  await AuditEntry.create({ companyId: company.id, actor, operation, recordId }, { transaction });
}

function qrMessage({ company, invoice, date, number: name, atcud, hash }) {
  const short = [0, 10, 20, 30].map((at) => hash[at]).join('');
  return [
    `A:${company.taxpayerNumber}`,
    `B:${invoice.customerTaxpayerNumber ?? '999999990'}`,
    'C:PT',
    'D:FT',
    'E:N',
    `F:${date.replaceAll('-', '')}`,
    `G:${name}`,
    `H:${atcud}`,
    'I1:PT',
    `I7:${euros(invoice.net)}`,
    `I8:${euros(invoice.tax)}`,
    `N:${euros(invoice.tax)}`,
    `O:${euros(invoice.total)}`,
    `Q:${short}`,
    'R:9999',
  ].join('*');
}

function show(invoice, lines, company) {
  const { id, status, number: name, atcud, hash, qr, date, cae, notes, createdAt, updatedAt, issuedAt } = invoice;
  return {
    id,
    status,
    number: name ?? null,
    atcud: atcud ?? null,
    hash: hash ?? null,
    qr: qr ?? null,
    date: date ?? null,
    cae,
    notes,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    issuedAt: issuedAt?.toISOString() ?? null,
    issuer: { name: company.name, taxpayerNumber: company.taxpayerNumber },
    customer: { id: invoice.customerId, name: invoice.customerName, taxpayerNumber: invoice.customerTaxpayerNumber },
    items: lines.map(({ itemId, name: item, quantity, unitPrice, vatPercent, net, tax }) => ({
      id: itemId,
      name: item,
      quantity: Number(quantity),
      unitPrice: euros(unitPrice),
      vatPercent,
      amountWithoutTax: euros(net),
      taxAmount: euros(tax),
    })),
    summary: {
      amountWithoutTax: euros(invoice.net),
      taxAmount: euros(invoice.tax),
      amountWithTax: euros(invoice.total),
    },
  };
}
