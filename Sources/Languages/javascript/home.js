// The address of a self-hosted server; home.d.ts documents it.
"use strict";

const { answerPost } = require("./lib/home.js");
const { Pairing } = require("./lib/pairing.js");

module.exports = { Pairing, answerPost };
