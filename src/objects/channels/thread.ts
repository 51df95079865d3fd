/** The thread's side: loads a module and serves an object with it, for as many objects as are asked for. */
import { extname } from "node:path";
import type { ObjectHandler } from "../handler.ts";
import type { ToObject } from "../protocol.ts";
import { serve } from "../serve.ts";
import { loadFailure } from "./loadFailure.ts";
import type { FromThread, ModuleText, ToThread } from "./worker.ts";

declare const self: Worker;

const objects = new Map<number, Promise<(message: ToObject) => void>>();

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if ("open" in data) objects.set(data.channel, open(data.channel, data.open));
  else if ("drop" in data) end(data.channel, data.drop);
  else void objects.get(data.channel)?.then((hear) => hear(data.hear));
};

async function open(channel: number, module: ModuleText): Promise<(message: ToObject) => void> {
  try {
    const handler = handlerIn(await load(module), module.path);
    return serve(
      handler,
      (said) => objects.has(channel) && post({ channel, said: copyable(said) }),
      () => end(channel, "closed"),
    );
  } catch (thrown) {
    const { path, text } = module;
    end(channel, text === null ? `${path}: the file does not exist` : loadFailure(thrown, { path, text }), true);
    return () => undefined;
  }
}

/**
 * Runs the text that was trusted, whatever the file says by now. What it imports is found from the file's own place.
 */
async function load({ path, text }: ModuleText): Promise<Record<string, unknown>> {
  if (text === null) throw new Error(`${path} does not exist`);
  const contents = text;
  const loader = loaders[extname(path)] ?? "js";
  Bun.plugin({
    name: "as trusted",
    setup: (build) =>
      void build.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, () => ({ contents, loader })),
  });
  return (await import(path)) as Record<string, unknown>;
}

const loaders: Readonly<Record<string, "ts" | "tsx" | "jsx">> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

function end(channel: number, ended: string, unloadable = false): void {
  if (objects.delete(channel)) post({ channel, ended, ...(unloadable && { unloadable }) });
}

function post(message: FromThread): void {
  self.postMessage(message);
}

/** What a module calls its interface may hold functions; between threads goes what JSON can say. */
function copyable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function handlerIn(module: Record<string, unknown>, path: string): ObjectHandler {
  const given = module["default"] ?? module;
  const handler = (typeof given === "function" ? (given as () => unknown)() : given) as Partial<ObjectHandler> | null;
  if (typeof handler?.onMessage === "function") return handler as ObjectHandler;
  throw new Error(`${path}: it exports no onMessage`);
}
