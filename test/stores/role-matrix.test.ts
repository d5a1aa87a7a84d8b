import t from 'tap';
import { testOnServers } from '../support/every-store.ts';
import { testRoleMatrix } from '../support/role-matrix.ts';

t.setTimeout(300_000);

testOnServers('who may do what is as test/corpora/roles.txt says', testRoleMatrix);
