import { createClient, type Client } from "../../src/client/client.ts";
import type { Stage } from "./stage.ts";

/** Team `api` with `ann` and `bee`, who fetch their mail, and the user who writes in it. */
export async function secondTeam({ user, url, world }: Stage): Promise<Client> {
  const token = (await Bun.file(`${world.env["TIELINE_HOME"]!}/user.token`).text()).trim();
  await user.call("teamCreate", { team: "api" });
  const client = createClient({ url, token }, { team: "api" });
  for (const name of ["ann", "bee"]) await client.call("register", { name });
  return client;
}
