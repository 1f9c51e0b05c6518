// Pairing by a code, for servers; pairing.d.ts documents it.
"use strict";

const { Pairing, PairingRequest, pairingId } = require("./lib/pairing.js");

module.exports = { Pairing, PairingRequest, pairingId };
