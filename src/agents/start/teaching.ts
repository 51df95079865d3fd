import skill from "../../../skills/tieline/SKILL.md" with { type: "text" };

/**
 * What every agent must know about its mail: the skill for programs that have skills, and the same words without its
 * head.
 */
export const skillText: string = skill;
export const teaching: string = skill.slice(skill.indexOf("\n---\n") + "\n---\n".length);
