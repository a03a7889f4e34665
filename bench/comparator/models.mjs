// The tables, as Sequelize's guides define them.
import { DataTypes, Sequelize } from 'sequelize';

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_POOL = '20' } = process.env;

export const sequelize = new Sequelize({
  dialect: 'postgres',
  host: DATABASE_HOST,
  port: Number(DATABASE_PORT),
  database: DATABASE_NAME,
  username: DATABASE_USER,
  logging: false,
  pool: { max: Number(DATABASE_POOL), min: 2, idle: 60_000, acquire: 30_000 },
  define: { underscored: true },
});

// Functions, since Sequelize writes into the definitions it is given.
const id = () => ({ type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true });
const text = () => ({ type: DataTypes.TEXT });
const required = () => ({ type: DataTypes.TEXT, allowNull: false });
const cents = () => ({ type: DataTypes.BIGINT, allowNull: false, defaultValue: 0, get: wholeNumber });

// pg gives bigint as text.
function wholeNumber(name) {
  const value = this.getDataValue(name);
  return value === null || value === undefined ? value : Number(value);
}

export const Company = sequelize.define('company', {
  id: id(),
  name: required(),
  taxpayerNumber: required(),
  cae: required(),
});

export const ApiKey = sequelize.define('apiKey', { id: id(), hash: { ...required(), unique: true } });

export const Customer = sequelize.define('customer', {
  id: id(),
  name: required(),
  taxpayerNumber: text(),
  address: text(),
  city: text(),
});

export const Item = sequelize.define('item', {
  id: id(),
  name: required(),
  unitPrice: cents(),
  vatPercent: { type: DataTypes.INTEGER, allowNull: false },
});

export const Series = sequelize.define('series', {
  id: id(),
  code: required(),
  validationCode: required(),
  lastNumber: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
  lastHash: { ...required(), defaultValue: '' },
});

export const Invoice = sequelize.define(
  'invoice',
  {
    id: id(),
    status: { ...required(), defaultValue: 'DRAFT' },
    cae: required(),
    notes: text(),
    number: text(),
    sequence: { type: DataTypes.INTEGER },
    atcud: text(),
    hash: text(),
    qr: text(),
    date: { type: DataTypes.DATEONLY },
    systemEntry: text(),
    issuedAt: { type: DataTypes.DATE },
    customerName: required(),
    customerTaxpayerNumber: text(),
    net: cents(),
    tax: cents(),
    total: cents(),
  },
  {
    indexes: [
      { unique: true, fields: ['series_id', 'sequence'] },
      { fields: ['company_id', { name: 'created_at', order: 'DESC' }] },
    ],
  },
);

export const InvoiceLine = sequelize.define('invoiceLine', {
  id: id(),
  position: { type: DataTypes.INTEGER, allowNull: false },
  name: required(),
  quantity: { type: DataTypes.DECIMAL(12, 3), allowNull: false },
  unitPrice: cents(),
  vatPercent: { type: DataTypes.INTEGER, allowNull: false },
  net: cents(),
  tax: cents(),
});

export const IdempotencyKey = sequelize.define(
  'idempotencyKey',
  {
    id: id(),
    key: required(),
    fingerprint: required(),
    status: { type: DataTypes.INTEGER },
    response: { type: DataTypes.JSONB },
  },
  { indexes: [{ unique: true, fields: ['company_id', 'key'] }] },
);

export const AuditEntry = sequelize.define('auditEntry', {
  id: id(),
  actor: required(),
  operation: required(),
  recordId: required(),
});

for (const model of [ApiKey, Customer, Item, Series, Invoice, IdempotencyKey, AuditEntry]) {
  model.belongsTo(Company, { foreignKey: { allowNull: false } });
}
Invoice.belongsTo(Customer, { foreignKey: { allowNull: false } });
Invoice.belongsTo(Series);
Invoice.hasMany(InvoiceLine, { as: 'lines', foreignKey: { allowNull: false }, onDelete: 'CASCADE' });
InvoiceLine.belongsTo(Invoice);
InvoiceLine.belongsTo(Item, { foreignKey: { allowNull: false } });
