import { call } from "../../fixtures/model-servers/server.ts";
import { claudeTest } from "./claudeCode.ts";
import { mcpSuite } from "./mcpSuite.ts";

mcpSuite(claudeTest, {
  program: "claude-code",
  setup: "claude",
  tool: (name, input = {}) => call(`mcp__tieline__${name}`, input),
});
