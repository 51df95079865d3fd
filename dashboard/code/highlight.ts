/** Colours for code. The parser makes a tree, which becomes elements here; no HTML is involved. */
import { h, type ComponentChildren } from "preact";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const lowlight = createLowlight({
  ...{ bash, c, cpp, css, dockerfile, go, ini, java, javascript, json, markdown, python, ruby, rust, sql },
  ...{ typescript, xml, yaml },
});

type Tree = ReturnType<typeof lowlight.highlight>;
type Leaf = Tree["children"][number];

/** Null: the language is not known. */
export function highlight(code: string, language: string): ComponentChildren | null {
  return lowlight.registered(language) ? lowlight.highlight(language, code).children.map(elementOf) : null;
}

function elementOf(node: Leaf): ComponentChildren {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const names = node.properties["className"];
  return h("span", { class: Array.isArray(names) ? names.join(" ") : "" }, node.children.map(elementOf));
}
