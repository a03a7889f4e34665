// The usual stack: Express, Sequelize, PostgreSQL, a transaction per request. The environment says where the database is
// (DATABASE_*), which API key opens the company (API_KEY), with what is signed (SIGNING_KEY, PEM) and where to listen (PORT).
import express from 'express';
import { invoices } from './invoices.mjs';
import { sequelize } from './models.mjs';
import { authenticate, idempotent, refuse } from './requests.mjs';
import { seed } from './seed.mjs';

await sequelize.sync();
const company = await seed(process.env.API_KEY);

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.use('/invoices', authenticate, idempotent, invoices);
app.use(refuse);

const server = app.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = server.address();
  if (process.send === undefined) console.log(`listening on http://127.0.0.1:${port}`);
  else process.send({ port, company });
});
