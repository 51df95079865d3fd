/** Where a browser keeps its device key: usable by pages of this origin, readable by none. */

export interface StoredDevice {
  readonly id: string;
  /** Cannot be exported. */
  readonly key: CryptoKey;
  /** The daemon that it is signed in at. */
  readonly fingerprint: string;
}

export interface DeviceStore {
  load(): Promise<StoredDevice | null>;
  save(device: StoredDevice): Promise<void>;
}

const table = "devices";
const only = "this";

/** A browser that stores nothing, as some do in private windows, is signed in until the page is left. */
export function deviceStore(factory: IDBFactory): DeviceStore {
  return {
    load: () =>
      within(factory, "readonly", (devices) => devices.get(only) as IDBRequest<StoredDevice | undefined>).then(
        (found) => found ?? null,
        () => null,
      ),
    save: (device) =>
      within(factory, "readwrite", (devices) => devices.put(device, only)).then(
        () => undefined,
        () => undefined,
      ),
  };
}

async function within<Result>(
  factory: IDBFactory,
  mode: IDBTransactionMode,
  work: (devices: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = factory.open("tieline", 1);
  opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(table));
  const database = await done(opening);
  try {
    return await done(work(database.transaction(table, mode).objectStore(table)));
  } finally {
    database.close();
  }
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  request.addEventListener("success", () => resolve(request.result));
  request.addEventListener("error", () => reject(request.error!));
  return promise;
}
