import { z } from "zod";
import { permissions } from "../../model/agent.ts";
import { permissionModes, profileOrigins } from "../../model/profile.ts";
import { modelName, roleLabel } from "./fields.ts";

export const ProfileView = z.object({
  name: z.string(),
  origin: z.enum(profileOrigins),
  source: z.string().describe("the file that defines it"),
  /** The Markdown file of the profile, if it has one of its own; tieline.yaml and built-in profiles have none. */
  file: z.string().nullable(),
  description: z.string().nullable(),
  provider: z.string(),
  command: z.array(z.string()).nullable(),
  model: z.string().nullable(),
  role: z.string().nullable(),
  cwd: z.string().nullable(),
  permissions: z.enum(permissionModes),
  may: z.array(z.enum(permissions)),
  autostart: z.boolean(),
  prompt: z.string().nullable(),
  /** Agents of the caller's team that were started from it. */
  agents: z.array(z.object({ name: z.string(), state: z.string() })),
});
export type ProfileView = z.infer<typeof ProfileView>;

export const newProfileFields = {
  description: z.string().optional().describe("one line about it"),
  provider: z.string().optional().describe("the agent program"),
  profile: z.string().optional().describe("the profile to inherit settings from"),
  command: z.string().optional().describe("the command, as a shell line"),
  model: modelName.optional(),
  role: roleLabel.optional(),
  cwd: z.string().optional().describe("its working directory"),
  prompt: z.string().optional().describe("its prompt"),
};
