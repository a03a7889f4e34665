import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from './network.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff::', '2001:db8:0:0::/64'],
  ['2001::1:2:3:4:5:6', '2001:0:1:2::/64'],
  ['::1:2:3:4:5:6:7', '0:1:2:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2::3:4:5:192.0.2.1', '1:2:0:3::/64'],
  ['not an address', 'not an address'],
  // As some proxies write who asked them, each time with another port.
  ['192.0.2.1:8080', '192.0.2.1'],
  ['[2001:db8::1]:8080', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['[::ffff:192.0.2.1]:8080', '192.0.2.1'],
  ['300.0.2.1:8080', '300.0.2.1:8080'],
  ['[nobody]:8080', '[nobody]:8080'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('two addresses are one network exactly when their first 64 bits are the same', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const written = (parts: readonly number[]) => parts.map((part) => part.toString(16)).join(':');
  // As PostgreSQL and inet_ntop write it: the longest run of zeros as "::".
  const short = (text: string) => (text.includes('::') ? text : text.replace(/(^|:)0(:0)+(:|$)/, '::'));
  fc.assert(
    fc.property(groups, groups, fc.integer({ min: 0, max: 8 }), (one, other, same) => {
      const mixed = [...one.slice(0, same), ...other.slice(same)];
      const alike = one.slice(0, 4).join() === mixed.slice(0, 4).join();
      for (const text of [written(mixed), short(written(mixed))]) {
        expect(isIPv6(text)).toBe(true);
        expect(networkOf(text) === networkOf(written(one))).toBe(alike);
      }
    }),
  );
});
