// Reads answers with the AI SDK, whole and streamed, and prints what it has of each.
//
//   node read.mjs BASE_URL < ASKED > GOT
//
// ASKED and GOT have one JSON object a line: {model, tools} in; {model, stream, content, reasoning, calls,
// invalid, finish, error} out. A call that the SDK flags as invalid is in `invalid`, not in `calls`.

import { createInterface } from "node:readline";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";

const provider = createOpenAICompatible({ name: "toolglot", baseURL: process.argv[2], apiKey: "sk-test" });

function offered(tools) {
  const found = {};
  for (const { function: f } of tools) {
    found[f.name] = tool({
      description: f.description,
      inputSchema: jsonSchema(f.parameters ?? { type: "object", properties: {} }),
    });
  }
  return found;
}

async function read(asked, stream) {
  const options = {
    model: provider.chatModel(asked.model),
    prompt: "go on",
    tools: offered(asked.tools),
    maxRetries: 0,
  };
  const got = { model: asked.model, stream, content: "", reasoning: "", calls: [], invalid: [] };
  try {
    const answer = stream ? streamText({ ...options, onError() {} }) : await generateText(options);
    got.content = await answer.text;
    got.reasoning = (await answer.reasoningText) ?? "";
    got.finish = await answer.finishReason;
    for (const call of await answer.toolCalls) {
      (call.invalid ? got.invalid : got.calls).push([call.toolName, call.input]);
    }
  } catch (error) {
    got.error = String(error);
  }
  return got;
}

for await (const line of createInterface({ input: process.stdin })) {
  for (const stream of [false, true]) {
    process.stdout.write(JSON.stringify(await read(JSON.parse(line), stream)) + "\n");
  }
}
