import { readFileSync } from "node:fs";

/**
 * The accounts of this machine, from the files that every Unix has. Accounts that only a directory service knows are
 * not in them.
 */
export interface Accounts {
  /** null: no account has this id. */
  userName(uid: number): string | null;
  /** Is this the group of one user alone, as most systems make it with the account? */
  isPrivateGroup(gid: number, uid: number): boolean;
}

export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
}

export function accountsIn({ passwd, group }: AccountFiles): Accounts {
  const users = entries(passwd).map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const userName = (uid: number): string | null => users.find((user) => user.uid === uid)?.name ?? null;
  return {
    userName,
    isPrivateGroup(gid, uid) {
      const groups = entries(group).filter(([, , id]) => Number(id) === gid);
      const members = groups.flatMap(([, , , names = ""]) => names.split(",").filter((name) => name !== ""));
      const isOwn = users.some((user) => user.uid === uid && user.gid === gid);
      return (
        groups.length > 0 &&
        isOwn &&
        members.every((name) => name === userName(uid)) &&
        !users.some((user) => user.gid === gid && user.uid !== uid)
      );
    },
  };
}

/** Read at every call: accounts come and go. */
export const systemAccounts = (): Accounts =>
  accountsIn({ passwd: readFileSync("/etc/passwd", "utf8"), group: readFileSync("/etc/group", "utf8") });

const entries = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.includes(":") && !line.startsWith("#"))
    .map((line) => line.split(":"));

/** "mallory (uid 1001)", or "uid 1001" where the account has no name. */
export function userWords(uid: number, accounts: Accounts = systemAccounts()): string {
  const name = accounts.userName(uid);
  return name === null ? `uid ${uid}` : `${name} (uid ${uid})`;
}
