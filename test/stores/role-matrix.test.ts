import t from 'tap';
import { testOnServers } from '../support/every-store.ts';
import { isLong } from '../support/gateway-under-load.ts';
import { testRoleMatrix } from '../support/role-matrix.ts';

t.setTimeout(600_000);

t.test('who may do what is as test/corpora/roles.txt says, on SQLite', (t) => testRoleMatrix(t, {}, !isLong));
testOnServers('who may do what is as test/corpora/roles.txt says', testRoleMatrix);
