/** Programs that run every line they are given: a message with many lines would be many commands there. */
const interpreters = /^(?:i?python[\d.]*|bpython|node|nodejs|deno|irb|pry|iex|ghci?|julia|R|lua[\d.]*|jshell|php|clj|sbcl|utop|ocaml)$/;
const databaseClients = /^(?:psql|mysql|mariadb|sqlite3|redis-cli|mongosh?)$/;
const runsCode = /^(?:-[cmepr]|--(?:eval|print|command|execute))/;

/** An interpreter that was given nothing to run waits for a person's lines. */
export function isRepl(argv: readonly string[]): boolean {
  const [program = "", ...words] = wordsOf(argv);
  const name = program.split("/").at(-1)!;
  if (databaseClients.test(name)) return true;
  return interpreters.test(name) && words.every((word) => word.startsWith("-") && !runsCode.test(word));
}

/** What a command runs: a line for the shell, which only names a program and its words, is those words. */
export const wordsOf = (argv: readonly string[]): readonly string[] => (argv[0]?.split("/").at(-1) === "sh" && argv[1] === "-c" && argv.length === 3 ? plainWords(argv[2]!) : argv);

/** Empty: the shell has more to do. */
const plainWords = (line: string): string[] => (/^[\w./ =-]+$/.test(line) ? line.trim().replace(/^exec /, "").split(/ +/) : []);
