import { openApiDocument } from '../openapi/document.ts';
import type { Call } from './command.ts';
import { printResult } from './output.ts';

/** `openapi`: the OpenAPI document of Postern's own endpoints. */
export async function openapi(call: Call): Promise<void> {
  const document = openApiDocument();
  await printResult(call, document, JSON.stringify(document, null, 2));
}
