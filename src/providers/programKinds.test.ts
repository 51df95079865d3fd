import { describe, expect, test } from "bun:test";
import { kindOf } from "./programKinds.ts";

const words = (line: string): string[] => line.split(" ");
const kind = (line: string): string | null => kindOf(words(line))?.kind ?? null;

describe("an interpreter that waits for lines", () => {
  test.each([
    ["python3", "# "],
    ["python3 -q", "# "],
    ["/usr/bin/python3.12 -i bot.py", "# "],
    ["python3 -m IPython", "# "],
    ["python3 /usr/bin/ipython3", "# "],
    ["ipython", "# "],
    ["ruby /usr/bin/irb", "# "],
    ["/usr/bin/ruby /usr/local/bin/pry", "# "],
    ["node", "// "],
    ["node -r ./setup.js", "// "],
    ["bun repl", "// "],
    ["deno", "// "],
    ["deno repl", "// "],
    ["lua5.4", "-- "],
    ["R --no-save", "# "],
    ["julia -q", "# "],
    ["ghc --interactive", "-- "],
    ["java -Xmx1g jdk.jshell/jdk.internal.jshell.tool.JShellToolProvider", "// "],
    ["beam.smp -- -user elixir -extra iex", "# "],
    ["psql -U me shop", "-- "],
    ["mysql shop", "-- "],
    ["sqlite3 my.db", "-- "],
    ["gdb ./program", "# "],
    ["bc -l", "# "],
    ["php -a", null],
    ["redis-cli", null],
    ["ocaml", null],
    ["tclsh", null],
    ["ed notes", null],
    ["sftp host", null],
  ])("%s, comments by %p", (line, comment) => {
    expect(kindOf(words(line))).toMatchObject({ kind: "interpreter", comment });
  });
});

test.each([
  "python3 agent.py",
  "python3 -m agent",
  "python3 -c code",
  "node bot.js",
  "node --eval=1",
  "node -r ./setup.js bot.js",
  "bun run bot.ts",
  "deno run bot.ts",
  "ruby bot.rb",
  "java -jar bot.jar",
  "cat",
  "aider --model x",
  "./mybot -i",
  "beam.smp -noshell -s bot",
])("%s reads messages, as far as its name tells", (line) => {
  expect(kind(line)).toBeNull();
});

test.each(["bash", "-zsh", "/bin/sh -i", "fish", "busybox sh", "busybox ash -l"])("%s is a shell", (line) => {
  expect(kind(line)).toBe("shell");
});

test.each([
  "less notes.txt",
  "man ls",
  "top",
  "htop",
  "vim notes.txt",
  "vim.tiny x",
  "nano x",
  "tig",
  "fzf",
  "watch ls",
  "busybox vi x",
  "emacs -nw",
])("%s takes keys", (line) => {
  expect(kind(line)).toBe("keys");
});

test.each([
  "ssh host",
  "ssh -t host claude",
  "mosh-client 1.2.3.4",
  "docker exec -it box bash",
  "docker --context far exec -it box sh",
  "docker compose exec web sh",
  "podman run -it image",
  "kubectl exec -it pod -- bash",
  "kubectl -n web attach pod",
  "lxc exec box bash",
  "machinectl shell box",
  "screen -r",
  "zellij",
  "telnet host",
  "nc host 23",
  "gcloud compute ssh vm",
  "adb shell",
])("what reads behind %s cannot be seen", (line) => {
  expect(kind(line)).toBe("remote");
});

test.each(["docker ps", "docker logs -f box", "kubectl get pods", "gh pr list", "aws s3 ls"])(
  "%s keeps the terminal",
  (line) => {
    expect(kind(line)).toBeNull();
  },
);

test.each([
  "script -qc bash",
  "sudo -i",
  "sudo ./bot",
  "su ana",
  "rlwrap telnet",
  "expect login.exp",
  "unbuffer bash",
  "nice python3",
  "env FOO=1 bash",
  "chroot /jail",
  "nsenter -t 1 -m",
  "unshare -r bash",
])("%s is a wrapper: the processes below tell", (line) => {
  expect(kind(line)).toBe("wrapper");
});

test("a line for the shell that only names a program is that program", () => {
  expect(kindOf(["sh", "-c", "exec python3 -i"])).toMatchObject({ kind: "interpreter" });
  expect(kindOf(["sh", "-c", "python3 server.py"])).toBeNull();
  expect(kindOf(["sh", "-c", "while :; do python3; done"])).toBeNull();
});
