import t from 'tap';
import { testRoleMatrix } from '../support/administration/role-matrix.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { testOnServers } from '../support/stores/every-store.ts';

t.setTimeout(600_000);

t.test('who may do what is as test/corpora/roles.txt says, on SQLite', (t) => testRoleMatrix(t, {}, !isLong));
testOnServers('who may do what is as test/corpora/roles.txt says', testRoleMatrix);
