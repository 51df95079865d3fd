/** The team and the search are in the address, so that a reload and the browser's Back keep them. */
import { effect } from "@preact/signals";
import { param, setParams } from "./route.ts";
import { search, team } from "./state.ts";

export function keepInAddress(): void {
  const given = param("team");
  if (given !== null) team.value = given;
  search.value = param("q") ?? "";
  // A team that was remembered, and each letter of a search, are no step that Back would return to.
  effect(() => mirror("team", team.value));
  effect(() => mirror("q", search.value.trim() === "" ? null : search.value));
  let isFirst = true;
  effect(() => {
    const [wantedTeam, words] = [param("team"), param("q") ?? ""];
    if (!isFirst) {
      team.value = wantedTeam;
      if (words !== search.peek().trim() && words !== search.peek()) search.value = words;
    }
    isFirst = false;
  });
}

function mirror(name: string, value: string | null): void {
  setParams({ [name]: value }, { replace: true });
}
