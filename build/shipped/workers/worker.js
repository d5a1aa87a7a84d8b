require('../load.js').load('./worker.js');
