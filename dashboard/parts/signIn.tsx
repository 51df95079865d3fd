import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { signedOut } from "../state.ts";
import { Mark } from "./icons.tsx";

const command = "tieline dash";

/** What a browser sees that is not signed in: what to type, and where. */
export function SignIn(): VNode {
  const { reason, isExpired } = signedOut.value;
  const copied = useSignal(false);
  const copy = (): void =>
    void navigator.clipboard.writeText(command).then(
      () => (copied.value = true),
      () => (copied.value = false),
    );
  return (
    <main class="sign-in">
      <div class="box">
        <Mark />
        <h1>{isExpired ? "Session expired" : "Sign in to Tieline"}</h1>
        {reason !== "" && <p role="status">{`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`}</p>}
        <ol>
          <li>Open a terminal on the machine where Tieline runs.</li>
          <li>
            Type this and press Enter:
            <div class="command">
              <pre>{command}</pre>
              <button onClick={copy}>{copied.value ? "Copied" : "Copy"}</button>
            </div>
          </li>
          <li>The dashboard opens, signed in. The link works once, within a minute.</li>
        </ol>
        <p class="small">
          For another browser, or over SSH, add <code>--no-open</code> and open the printed link.
        </p>
      </div>
    </main>
  );
}
