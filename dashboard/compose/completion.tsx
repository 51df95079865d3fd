/** A field that completes names. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { actingTeam, shownAgents } from "../state.ts";

export interface Suggestion {
  readonly value: string;
  readonly about: string;
}

export function suggestionsFor(typed: string): Suggestion[] {
  const words = typed.toLowerCase();
  const agents = shownAgents.value.map(({ view: { value } }) => ({
    value: actingTeam.value === null ? `${value.team}:${value.name}` : value.name,
    about: [value.role, value.state].filter(Boolean).join(" · "),
  }));
  const groups = [
    { value: "@all", about: "all agents you may write to" },
    ...(actingTeam.value === null ? [] : [{ value: `@${actingTeam.value}`, about: "the whole team" }]),
    { value: "*", about: "every live agent on this machine" },
  ];
  return [...agents, ...groups].filter(({ value }) => value.toLowerCase().includes(words)).slice(0, 8);
}

export interface RecipientProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function Recipient({ value, onChange }: RecipientProps): VNode {
  const open = useSignal(false);
  const at = useSignal(0);
  const options = open.value ? suggestionsFor(value) : [];
  const pick = (option: Suggestion | undefined): void => {
    if (option) onChange(option.value);
    open.value = false;
  };
  function onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      open.value = true;
      at.value = (at.value + (event.key === "ArrowDown" ? 1 : options.length - 1)) % Math.max(1, options.length);
    } else if (
      (event.key === "Enter" || event.key === "Tab") &&
      options.length > 0 &&
      value !== options[at.value]?.value
    ) {
      if (event.key === "Enter") event.preventDefault();
      pick(options[at.value]);
    } else if (event.key === "Escape" && options.length > 0) {
      event.stopPropagation();
      open.value = false;
    }
  }
  return (
    <div class="completion">
      <input
        id="compose-to"
        aria-label="To"
        role="combobox"
        aria-expanded={options.length > 0}
        aria-controls="compose-options"
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="a name, team:name, or @all"
        value={value}
        onInput={({ currentTarget }) => {
          onChange(currentTarget.value);
          [open.value, at.value] = [true, 0];
        }}
        onKeyDown={onKey}
        onBlur={() => setTimeout(() => (open.value = false), 150)}
      />
      {options.length > 0 && <Options options={options} at={at.value} pick={pick} id="compose-options" />}
    </div>
  );
}

export function Options({
  options,
  at,
  pick,
  id,
}: {
  options: readonly Suggestion[];
  at: number;
  pick: (one: Suggestion) => void;
  id: string;
}): VNode {
  return (
    <ul class="options" role="listbox" id={id}>
      {options.map((option, index) => (
        <li
          key={option.value}
          role="option"
          aria-selected={index === at}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => pick(option)}
        >
          <span>{option.value}</span>
          <small>{option.about}</small>
        </li>
      ))}
    </ul>
  );
}
