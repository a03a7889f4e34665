import { readiness } from '../../fiscal/readiness.ts';
import { assert } from '../../fiscal/refusal.ts';
import { defineRead } from '../operation.ts';
import { CompanyReply, readCompany, readinessFacts } from './company.ts';

export const getCompany = defineRead({
  name: 'getCompany',
  route: 'GET /company',
  tag: 'Company',
  summary: 'The company of the credential and whether it is ready to issue',
  reply: [200, CompanyReply],
  access: { key: true, oauth: ['company.read', 'invoicing.read'] },
  quick: true,
  refuses: [],
  tool: 'get_company',
  async load(tx) {
    const [row] = await tx.query(readCompany);
    assert(row !== undefined, 'a credential opens a company that exists');
    return row;
  },
  show(row, _asked, world) {
    const reasons = readiness(readinessFacts(row), world.baseUrl);
    return {
      id: row['id'],
      name: row['name'],
      taxpayerNumber: row['taxpayer_number'],
      cae: (row['cae'] as string[]).join(','),
      readiness: {
        ready: reasons.length === 0,
        reasons,
        ...(reasons[0] === undefined ? {} : { actionUrl: reasons[0].actionUrl }),
      },
    };
  },
});
