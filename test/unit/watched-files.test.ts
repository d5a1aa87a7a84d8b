import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WatchedFiles } from '../../src/runtime/watched-files.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

t.test('a change of a file, of its link, and its removal are noticed once each', async (t) => {
  const folder = makeTemporaryFolder('postern-test-');
  const [file, other, link, next] = ['file', 'other', 'link', 'next'].map((name) => join(folder, name));
  writeFileSync(file!, 'one');
  symlinkSync(file!, link!);
  let changes = 0;
  const watched = new WatchedFiles([link!, other!], () => {
    changes += 1;
  });
  t.teardown(() => watched.close());
  const changesAfter = async (change: () => void) => {
    change();
    changes = 0;
    await watched.check();
    await watched.check();
    return changes;
  };
  t.equal(await changesAfter(() => {}), 0);
  t.equal(await changesAfter(() => writeFileSync(file!, 'changed')), 1);
  t.equal(await changesAfter(() => writeFileSync(other!, 'appears')), 1);
  const replaceLink = () => {
    symlinkSync(other!, next!);
    renameSync(next!, link!);
  };
  t.equal(await changesAfter(replaceLink), 1);
  t.equal(await changesAfter(() => rmSync(other!)), 1);
  watched.watch([file!]);
  t.equal(await changesAfter(() => writeFileSync(other!, 'no longer watched')), 0);
  t.equal(await changesAfter(() => writeFileSync(file!, 'watched now')), 1);
  watched.close();
  t.equal(await changesAfter(() => rmSync(file!)), 0);
});
