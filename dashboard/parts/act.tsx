import type { ComponentProps, VNode } from "preact";
import { isAway } from "../state.ts";

/** A button that asks the daemon to do something: off while the daemon is away. */
export function Act({ disabled = false, title, ...rest }: ComponentProps<"button">): VNode {
  return (
    <button
      {...rest}
      disabled={disabled || isAway.value}
      title={isAway.value ? "Not possible while the daemon is away" : title}
    />
  );
}
