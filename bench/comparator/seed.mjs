// One company that can issue, made when the database is empty.
import { ApiKey, Company, Customer, Item, Series } from './models.mjs';
import { sha256 } from './requests.mjs';

const rates = { NORMAL: 23, INTERMEDIATE: 13, REDUCED: 6 };

/** What a client needs to know: activity codes, ids of customers and of items by rate. */
export async function seed(apiKey) {
  let company = await Company.findOne();
  if (company === null) {
    company = await Company.create({ name: 'Oficina do Exemplo, Lda', taxpayerNumber: '509442013', cae: '62010' });
    const companyId = company.id;
    await ApiKey.create({ companyId, hash: sha256(apiKey) });
    await Series.create({ companyId, code: 'A2026', validationCode: 'AAJFF1XZ' });
    const address = 'Avenida da Liberdade 2';
    await Customer.bulkCreate([
      { companyId, name: 'Cliente do Exemplo, S.A.', taxpayerNumber: '503504564', address, city: 'Lisboa' },
      { companyId, name: 'Consumidor do Exemplo', address, city: 'Lisboa' },
    ]);
    await Item.bulkCreate(
      Object.entries(rates).map(([name, vatPercent]) => ({ companyId, name, unitPrice: 1990, vatPercent })),
    );
  }
  const where = { companyId: company.id };
  const customers = await Customer.findAll({ where });
  const items = await Item.findAll({ where });
  return {
    cae: [company.cae],
    customers: customers.map(({ id }) => id),
    items: Object.fromEntries(items.map(({ name, id }) => [name, id])),
  };
}
