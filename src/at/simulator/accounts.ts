/**
 * Passwords the simulated AT knows. A user it was told about must match; any other password passes unless it contains
 * "wrong", so that a demo works without set-up and a wrong password can still be tried. Kept in memory only.
 */
export interface Accounts {
  isRight(username: string, password: string): boolean;
  /** A JSON object {username: password}; null forgets one. A sentence when it is none. */
  put(input: unknown): string | undefined;
  names(): readonly string[];
}

/** Knows nobody at first. */
export function openAccounts(): Accounts {
  const known = new Map<string, string>();
  return {
    isRight(username, password) {
      const expected = known.get(username);
      return expected === undefined ? !password.toLowerCase().includes('wrong') : expected === password;
    },
    put(input) {
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        return 'accounts are a JSON object {"NIF/n": "password"}';
      const entries = Object.entries(input as Record<string, unknown>);
      if (entries.some(([, value]) => value !== null && typeof value !== 'string'))
        return 'a password is text, or null';
      for (const [name, value] of entries) {
        if (value === null) known.delete(name);
        else known.set(name, value as string);
      }
      return undefined;
    },
    names: () => [...known.keys()],
  };
}
