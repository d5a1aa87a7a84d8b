import t from 'tap';
import { createDocumentFile } from '../../src/web/endpoints/files.ts';

t.test('the document is made once, whoever asks how often', async (t) => {
  let made = 0;
  const document = () => {
    made += 1;
    return { openapi: '3.1.0', title: 'é' };
  };
  const file = createDocumentFile('/postern', document);
  t.equal(file.path, '/postern/openapi.json');
  t.equal(made, 0, 'not at the start');
  const call = {} as Parameters<typeof file.handle>[0];
  const replies = await Promise.all(Array.from({ length: 5 }, () => file.handle(call)));
  t.equal(made, 1);
  const [first] = replies;
  t.equal(first!.content!.type, 'application/json');
  t.equal(first!.content!.bytes.toString(), '{"openapi":"3.1.0","title":"é"}');
  for (const { status, content } of replies) {
    t.equal(status, 200);
    t.equal(content!.bytes, first!.content!.bytes, 'the same bytes');
  }
});
