/**
 * Programs in which text acts: what is typed there is run, or taken for keys. Known by the name of the program and its
 * words, since a screen tells nothing of what would happen.
 */
import { basename } from "node:path";
import { isBareShell } from "../os/shell.ts";

export type ProgramKind =
  /** It runs every line as a command. */
  | { readonly kind: "shell"; readonly name: string }
  /** It runs every line as code. `comment` begins a line that it does not run; null: it is not known to have one. */
  | { readonly kind: "interpreter"; readonly name: string; readonly comment: string | null }
  /** Each character is a key with a meaning of its own. */
  | { readonly kind: "keys"; readonly name: string }
  /**
   * What reads the text is on another machine, in a container, or in another multiplexer: nothing here can tell what it
   * is.
   */
  | { readonly kind: "remote"; readonly name: string }
  /** It gives the terminal to another program, which its process tree shows. */
  | { readonly kind: "wrapper"; readonly name: string };

/** Null: by its name, a program that reads messages. */
export function kindOf(argv: readonly string[]): ProgramKind | null {
  // A program that changes its title leaves empty words behind.
  const [program = "", ...words] = wordsOf(argv).filter((word) => word !== "");
  const name = basename(program).replace(/^-/, "");
  if (isBareShell({ command: name }, [program, ...words])) return { kind: "shell", name };
  if (name === "busybox") return kindOf(words);
  const inner = innerProgram(name, words);
  if (inner) return kindOf(inner);
  const comment = commentOf(name, words);
  if (comment !== undefined) return { kind: "interpreter", name, comment };
  if (keyDriven.has(name)) return { kind: "keys", name };
  if (isRemote(name, words)) return { kind: "remote", name };
  return wrappers.has(name) ? { kind: "wrapper", name } : null;
}

/** What a command runs: a line for the shell, which only names a program and its words, is those words. */
export const wordsOf = (argv: readonly string[]): readonly string[] =>
  basename(argv[0] ?? "") === "sh" && argv[1] === "-c" && argv.length === 3 ? plainWords(argv[2]!) : argv;

/** Empty: the shell has more to do. */
const plainWords = (line: string): string[] =>
  /^[\w./ =-]+$/.test(line)
    ? line
        .trim()
        .replace(/^exec /, "")
        .split(/ +/)
    : [];

/**
 * What a line has to begin with to be left alone, by interpreter. Where text inside of a comment can end it, there is
 * none.
 */
const interpreters: readonly (readonly [names: RegExp, comment: string | null])[] = [
  [/^(?:i?python[\d.]*|i?pypy[\d.]*|bpython|ptpython|irb[\d.]*|pry|ruby[\d.]*|perl[\d.]*|iex|crystal)$/, "# "],
  [/^(?:julia|R|radian|octave(?:-cli)?|bc|dc|gnuplot|sage)$/, "# "],
  [/^(?:node|nodejs|bun|deno|ts-node|tsx|scala|scala-cli|amm|jshell|kotlinc?|groovysh|swift|mongosh?)$/, "// "],
  [/^(?:ghci?|lua[\d.]*|luajit)$/, "-- "],
  [/^(?:clj|clojure|lein|bb|sbcl|clisp|ecl|guile|racket|mit-scheme|gsi|chez|scheme)$/, "; "],
  [/^erl$/, "% "],
  [/^(?:php[\d.]*|ocaml|utop|tclsh[\d.]*|wish[\d.]*|coqtop|swipl|gprolog|q|apl|j|gforth)$/, null],
  [/^(?:gp|maxima|matlab|mathematica|wolframscript)$/, null],
];

/** They wait for lines whatever follows their name: a database, a program to look at. */
const alwaysInteractive: readonly (readonly [names: RegExp, comment: string | null])[] = [
  [/^(?:psql|pgcli|mysql|mariadb|mycli|sqlite3?|litecli|duckdb|cqlsh|clickhouse(?:-client)?)$/, "-- "],
  [/^gdb(?:-\w+)?$/, "# "],
  [/^(?:lldb|pdb|jdb|rdbg|dlv|ed|ex|redis-cli|valkey-cli|sqlplus|isql|influx)$/, null],
  [/^(?:ftp|lftp|sftp|bluetoothctl|nmcli|virsh|msfconsole)$/, null],
];

/**
 * A program that is itself a script or a module: `python3 /usr/bin/ipython3`, `ruby /usr/bin/irb`, `java …
 * jdk.jshell/…`.
 */
function innerProgram(name: string, words: readonly string[]): readonly string[] | null {
  if (name === "java")
    return (
      javaPrograms.flatMap(([main, program]) => (words.some((word) => main.test(word)) ? [[program]] : []))[0] ?? null
    );
  if (/^beam(\.smp)?$/.test(name))
    return words.some((word) => /^-no(shell|input)$/.test(word))
      ? []
      : [words.some((word) => /iex|elixir/i.test(word)) ? "iex" : "erl"];
  const module = words.indexOf("-m");
  if (module !== -1 && /^(?:IPython|ptpython|bpython|pdb|code|asyncio|xonsh)$/.test(words[module + 1] ?? ""))
    return ["python3"];
  const script = runtimes.test(name)
    ? words.findIndex((word, at) => !word.startsWith("-") && !takesValue.test(words[at - 1] ?? ""))
    : -1;
  const inner =
    script === -1 ? [] : [basename(words[script]!).replace(/\.(?:[cm]?js|rb|py|pl)$/, ""), ...words.slice(script + 1)];
  return inner.length > 0 && kindOf(inner) !== null ? inner : null;
}

const javaPrograms: readonly (readonly [main: RegExp, program: string])[] = [
  [/jshell/i, "jshell"],
  [/scala\.tools\.nsc|scala\.cli|dotty\.tools\.repl/, "scala"],
  [/^clojure\.main$/, "clj"],
  [/groovysh|org\.codehaus\.groovy\.tools\.shell/i, "groovysh"],
];
const runtimes = /^(?:python[\d.]*|ruby[\d.]*|perl[\d.]*|node|nodejs|bun|deno|tclsh[\d.]*|expect)$/;
/** Options that have the next word for themselves. */
const takesValue = /^(?:-[rIWX]|--(?:require|import|loader|experimental-loader))$/;

/** Undefined: no interpreter that waits for lines. */
function commentOf(name: string, words: readonly string[]): string | null | undefined {
  const always = alwaysInteractive.find(([names]) => names.test(name));
  if (always) return always[1];
  const found = interpreters.find(([names]) => names.test(name));
  return found && waitsForLines(name, words) ? found[1] : undefined;
}

/**
 * A word that names a script, or an option that brings the code along, leaves the terminal to that code, unless `-i`
 * asks for a prompt behind it.
 */
function waitsForLines(name: string, words: readonly string[]): boolean {
  if (words.some((word) => asksForPrompt.test(word))) return true;
  if (words[0] === "repl") return true;
  // Without a word of its own it is a prompt only for some.
  if (["bun", "tsx", "ghc", "elixir"].includes(name)) return false;
  return words.every(
    (word, at) => (word.startsWith("-") || takesValue.test(words[at - 1] ?? "")) && !bringsCode.test(word),
  );
}

const asksForPrompt = /^(?:-[a-zA-Z]*i[a-zA-Z]*|--interactive|-a)$/;
const bringsCode = /^(?:-[cmepE]|--(?:eval|print|command|execute|run|file))/;

const keyDriven: ReadonlySet<string> = new Set([
  ...[
    "less",
    "more",
    "most",
    "pg",
    "man",
    "info",
    "bat",
    "batcat",
    "moar",
    "moor",
    "glow",
    "delta",
    "fx",
    "jless",
    "visidata",
    "vd",
  ],
  ...[
    "top",
    "htop",
    "btop",
    "btm",
    "bashtop",
    "atop",
    "iotop",
    "iftop",
    "nethogs",
    "glances",
    "nvtop",
    "powertop",
    "slabtop",
    "watch",
    "viddy",
    "ncdu",
    "gdu",
    "k9s",
    "lazydocker",
    "ctop",
  ],
  ...[
    "vi",
    "vim",
    "vim.tiny",
    "vim.basic",
    "nvim",
    "view",
    "vimdiff",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "hx",
    "helix",
    "kak",
    "joe",
    "jed",
    "mcedit",
    "ne",
  ],
  ...[
    "mc",
    "ranger",
    "nnn",
    "lf",
    "vifm",
    "yazi",
    "tig",
    "lazygit",
    "gitui",
    "dialog",
    "whiptail",
    "fzf",
    "sk",
    "peco",
    "gum",
    "mutt",
    "neomutt",
    "alpine",
    "weechat",
    "irssi",
    "cmus",
    "lynx",
    "links",
    "elinks",
    "w3m",
  ],
]);

/** Whatever follows, the text goes elsewhere. */
const remotes: ReadonlySet<string> = new Set([
  ...[
    "ssh",
    "slogin",
    "dbclient",
    "mosh",
    "mosh-client",
    "et",
    "telnet",
    "rsh",
    "rlogin",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "minicom",
    "picocom",
    "cu",
    "tio",
    "sshpass",
    "autossh",
    "tsh",
  ],
  ...[
    "screen",
    "zellij",
    "dtach",
    "abduco",
    "byobu",
    "dvtm",
    "lxc-attach",
    "lxc-console",
    "machinectl",
    "systemd-nspawn",
    "toolbox",
    "distrobox",
    "wsl",
  ],
]);

/** With these words, anywhere after their own options. */
const remoteWords: Readonly<Record<string, readonly string[]>> = {
  docker: ["exec", "run", "attach", "start", "compose"],
  "docker-compose": ["exec", "run", "attach"],
  podman: ["exec", "run", "attach", "start"],
  nerdctl: ["exec", "run", "attach", "start"],
  buildah: ["run"],
  kubectl: ["exec", "attach", "run", "debug"],
  oc: ["exec", "attach", "run", "debug", "rsh"],
  lxc: ["exec", "shell", "console"],
  incus: ["exec", "shell", "console"],
  vagrant: ["ssh"],
  gcloud: ["ssh"],
  aws: ["execute-command", "start-session"],
  az: ["ssh", "exec"],
  fly: ["ssh", "console"],
  flyctl: ["ssh", "console"],
  heroku: ["run", "ps:exec"],
  gh: ["ssh"],
  adb: ["shell"],
  vsh: ["console"],
};

const isRemote = (name: string, words: readonly string[]): boolean =>
  remotes.has(name) || words.some((word) => remoteWords[name]?.includes(word));

const wrappers: ReadonlySet<string> = new Set([
  ...[
    "script",
    "expect",
    "unbuffer",
    "rlwrap",
    "asciinema",
    "ttyrec",
    "sudo",
    "doas",
    "su",
    "runuser",
    "setpriv",
    "pkexec",
    "env",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "time",
    "timeout",
    "nohup",
    "setsid",
    "stdbuf",
    "strace",
    "ltrace",
  ],
  ...[
    "chroot",
    "nsenter",
    "unshare",
    "bwrap",
    "firejail",
    "fakeroot",
    "proot",
    "systemd-run",
    "direnv",
    "nix",
    "nix-shell",
    "flatpak",
    "busybox",
  ],
]);
