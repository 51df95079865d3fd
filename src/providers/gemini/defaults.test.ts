import { expect, test } from "bun:test";
import { readsDefaults, type Ownership } from "./defaults.ts";

const path = "/root/.tieline/sockets/ana.sock.gemini.json";
const folders = (others: Readonly<Record<string, Ownership>>) => (folder: string) =>
  others[folder] ?? { uid: 0, mode: 0o40700 };

test("only where root alone could have written the file, and no administrator wrote one", () => {
  const reads = (others: Readonly<Record<string, Ownership>> = {}, uid = 0, administrators: readonly string[] = []) =>
    readsDefaults(path, { uid, stat: folders(others), administrators });
  expect(reads()).toBe(true);
  expect(reads({}, 1000)).toBe(false);
  expect(reads({ "/root/.tieline": { uid: 1000, mode: 0o40700 } })).toBe(false);
  expect(reads({ "/root": { uid: 0, mode: 0o40775 } })).toBe(false);
  expect(reads({ "/": { uid: 0, mode: 0o41777 } })).toBe(false);
  expect(reads({}, 0, [import.meta.path])).toBe(false);
});
