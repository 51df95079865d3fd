/**
 * A filter for system calls that lead out of a sandbox which shares its terminal: pushing characters into the
 * terminal's input as if they were typed (TIOCSTI, TIOCLINUX), and the kernel's key rings, which namespaces do not
 * separate.
 */
import { endianness } from "node:os";

interface Calls {
  /** As the kernel names the architecture of the calling code: AUDIT_ARCH_*. */
  readonly arch: number;
  readonly ioctl: number;
  /** add_key, request_key, keyctl. */
  readonly keys: readonly number[];
  /** Calls above this belong to another way of calling the same kernel (x32). */
  readonly last?: number;
}

/** Native code, and 32-bit code on the same machine. */
const architectures: Readonly<Record<string, readonly Calls[]>> = {
  x64: [
    { arch: 0xc000003e, ioctl: 16, keys: [248, 249, 250], last: 0x3fffffff },
    { arch: 0x40000003, ioctl: 54, keys: [286, 287, 288] },
  ],
  arm64: [
    { arch: 0xc00000b7, ioctl: 29, keys: [217, 218, 219] },
    { arch: 0x40000028, ioctl: 54, keys: [309, 310, 311] },
  ],
};

const terminalInput = [0x5412, 0x541c];

/**
 * Offsets in what the kernel gives to a filter: the call's number, the architecture, the low half of the second
 * argument.
 */
const offset = { number: 0, architecture: 4, secondArgument: 24 } as const;
const verdict = { allow: 0x7fff0000, refuse: 0x00050001 } as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const load = (at: number): Instruction => [0x20, 0, 0, at];
const answer = (value: number): Instruction => [0x06, 0, 0, value];
const ifEqual = (value: number, skipTrue: number, skipFalse: number): Instruction => [0x15, skipTrue, skipFalse, value];
const ifAbove = (value: number, skipTrue: number, skipFalse: number): Instruction => [0x25, skipTrue, skipFalse, value];

/** The program as bytes for `bwrap --seccomp`; null: this machine's calls are not known here. */
export function terminalFilter(machine: string = process.arch, order: "LE" | "BE" = endianness()): Uint8Array | null {
  const known = order === "LE" ? architectures[machine] : undefined;
  if (known === undefined) return null;
  const program = [load(offset.architecture), ...known.flatMap(block), answer(verdict.refuse)];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, value], at) => {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, ifTrue);
    bytes.setUint8(at * 8 + 3, ifFalse);
    bytes.setUint32(at * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}

/** What holds for one architecture; calls of another one continue behind it. */
function block({ arch, ioctl, keys, last }: Calls): Instruction[] {
  const refused = [...keys.map((key) => ifEqual(key, 0, 1)).flatMap((test) => [test, answer(verdict.refuse)])];
  const foreign = last === undefined ? [] : [ifAbove(last, 0, 1), answer(verdict.refuse)];
  const requests = terminalInput.flatMap((request) => [ifEqual(request, 0, 1), answer(verdict.refuse)]);
  const body = [
    load(offset.number),
    ...foreign,
    ...refused,
    ifEqual(ioctl, 0, requests.length + 1),
    load(offset.secondArgument),
    ...requests,
    answer(verdict.allow),
  ];
  return [ifEqual(arch, 0, body.length), ...body];
}
