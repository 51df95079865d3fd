import type { VNode } from "preact";
import { signedOut } from "../state.ts";
import { Mark } from "./icons.tsx";

/** What a browser sees that is not signed in. */
export function SignIn(): VNode {
  const { reason, isExpired } = signedOut.value;
  return (
    <main class="sign-in">
      <Mark />
      <h1>{isExpired ? "Session expired" : "Sign in to Tieline"}</h1>
      {reason !== "" && <p role="status">{`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`}</p>}
      <p>Run this in a terminal on the machine where Tieline runs. It opens the dashboard with a new link.</p>
      <pre>tieline dash</pre>
    </main>
  );
}
